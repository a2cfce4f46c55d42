-- The rows of a query as text, or its error; sorted where the query does not order them.
CREATE FUNCTION rows_of(query text, required boolean) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  r record;
  result text[] := '{}';
  detail text;
BEGIN
  PERFORM set_config('penumbra.mode', CASE WHEN required THEN 'require' ELSE 'off' END, false);
  FOR r IN EXECUTE query LOOP
    result := result || r::text;
  END LOOP;
  PERFORM set_config('penumbra.mode', 'auto', false);
  IF query !~* 'order by' THEN
    SELECT array_agg(x ORDER BY x COLLATE "C") INTO result FROM unnest(result) x;
  END IF;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  PERFORM set_config('penumbra.mode', 'auto', false);
  RETURN ARRAY[SQLSTATE, SQLERRM, detail];
END $$;

CREATE FUNCTION agree(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  stock text[] := rows_of(query, false);
  ours text[] := rows_of(query, true);
BEGIN
  IF stock IS NOT DISTINCT FROM ours THEN
    RETURN format('%s rows', coalesce(cardinality(stock), 0));
  END IF;
  RETURN format('DIFFERENT: %s stock: %s ours: %s', query, left(stock::text, 200), left(ours::text, 200));
END $$;
