\set ECHO none
-- The rows of a query as text in a mode, sorted where the query does not order them; or 'error' and what it says.
CREATE FUNCTION rows_of(query text, mode text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  r record;
  result text[] := '{}';
  detail text;
BEGIN
  PERFORM set_config('penumbra.mode', mode, true);
  FOR r IN EXECUTE query LOOP
    result := result || r::text;
  END LOOP;
  -- an ORDER BY in parentheses, also of a window, does not order the rows
  IF query !~* 'order by ([^()]|\(([^()]|\([^()]*\))*\))*$' THEN
    result := array(SELECT x FROM unnest(result) x ORDER BY x COLLATE "C");
  END IF;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN ARRAY['error', SQLSTATE, SQLERRM, detail];
END $$;

-- How many rows PostgreSQL's executor and the engine both give, or the error that both raise; why a query is refused.
CREATE FUNCTION agree(query text, mode text = 'require') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  stock text[] := rows_of(query, 'off');
  ours text[] := rows_of(query, mode);
BEGIN
  IF stock IS NOT DISTINCT FROM ours THEN
    RETURN CASE WHEN stock[1] = 'error' THEN stock[3] ELSE format('%s rows', cardinality(stock)) END;
  ELSIF ours[1] = 'error' AND ours[3] LIKE '%Penumbra%' THEN
    RETURN format('refused: %s: %s', query, ours[4]);
  END IF;
  RETURN format('DIFFERENT: %s stock: %s ours: %s', query, left(stock::text, 300), left(ours::text, 300));
END $$;
\set ECHO all
