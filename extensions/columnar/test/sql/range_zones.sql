-- Conditions on ranges skip what the bounds of ranges exclude, and have the answers of PostgreSQL's executor.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE SCHEMA range_zones;
SET search_path = range_zones;

-- Rising with the rows. Of three blocks of rows the first has ranges with two bounds, the second any, with NULL and empty ones, the third few of these.
CREATE FUNCTION flags(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT (ARRAY['[)', '(]', '[]', '()'])[1 + i * 7 % 4] $$;
CREATE FUNCTION is_odd(i int, modulus int) RETURNS bool LANGUAGE sql IMMUTABLE AS $$ SELECT CASE i / 2500 % 3 WHEN 0 THEN false WHEN 1 THEN i % modulus = 0 ELSE i % (modulus * 100) = 0 END $$;
CREATE TABLE zoned (id int, i4 int4range, i8 int8range, d daterange, t tsrange, tz tstzrange, n numrange, m4 int4multirange, mt tsmultirange, mn nummultirange) WITH (fillfactor = 15);
INSERT INTO zoned SELECT i,
  CASE WHEN is_odd(i, 7) THEN NULL WHEN is_odd(i, 5) THEN 'empty' ELSE int4range(CASE WHEN NOT is_odd(i, 11) THEN i - 9000 END, CASE WHEN NOT is_odd(i, 6) THEN i - 8990 + i % 5 END, flags(i)) END,
  CASE WHEN is_odd(i, 7) THEN NULL WHEN is_odd(i, 5) THEN 'empty' ELSE int8range(CASE WHEN NOT is_odd(i, 11) THEN i * 10000000000 END, CASE WHEN NOT is_odd(i, 6) THEN i * 10000000000 + 1 + i % 90 END, flags(i)) END,
  CASE WHEN is_odd(i, 7) THEN NULL WHEN is_odd(i, 5) THEN 'empty' ELSE daterange(CASE WHEN is_odd(i, 13) THEN '-infinity' WHEN NOT is_odd(i, 11) THEN date '2000-01-01' + i / 4 END,
    CASE WHEN is_odd(i, 8) THEN 'infinity' WHEN NOT is_odd(i, 6) THEN date '2000-01-02' + i / 4 + i % 30 END, flags(i)) END,
  CASE WHEN is_odd(i, 7) THEN NULL WHEN is_odd(i, 5) THEN 'empty' ELSE tsrange(CASE WHEN is_odd(i, 13) THEN '-infinity' WHEN NOT is_odd(i, 11) THEN timestamp '2000-01-01' + i * interval '1 hour' END,
    CASE WHEN is_odd(i, 8) THEN 'infinity' WHEN NOT is_odd(i, 6) THEN timestamp '2000-01-01' + i * interval '1 hour' + i % 50 * interval '7 minutes' END, flags(i * 3)) END,
  CASE WHEN is_odd(i, 7) THEN NULL WHEN is_odd(i, 5) THEN 'empty' ELSE tstzrange('2000-01-01 UTC'::timestamptz + i * interval '1 hour', '2000-01-02 UTC'::timestamptz + i * interval '1 hour', flags(i)) END,
  CASE WHEN is_odd(i, 7) THEN NULL WHEN is_odd(i, 5) THEN 'empty' ELSE numrange(CASE WHEN is_odd(i, 13) THEN '-Infinity' WHEN NOT is_odd(i, 11) THEN (i - 3000) * 1.10 END,
    CASE WHEN is_odd(i, 8) THEN 'NaN' WHEN is_odd(i, 9) THEN 'Infinity' WHEN NOT is_odd(i, 6) THEN (i - 3000) * 1.1 + i % 40 * 0.001 END, flags(i)) END
  FROM generate_series(1, 16000) i;
UPDATE zoned SET m4 = CASE WHEN is_odd(id, 9) THEN int4multirange(coalesce(i4, 'empty'), int4range(id - 9000 + 30, id - 9000 + 35)) WHEN i4 IS NOT NULL THEN int4multirange(i4) END,
  mt = CASE WHEN id % 3 = 0 THEN tsmultirange(coalesce(t, 'empty'), tsrange('2000-01-01'::timestamp + (id + 100) * interval '1 hour', NULL)) WHEN t IS NOT NULL THEN tsmultirange(t) END,
  mn = CASE WHEN is_odd(id, 9) THEN nummultirange(coalesce(n, 'empty'), numrange(id - 2000, id - 1999, '(]')) WHEN n IS NOT NULL THEN nummultirange(n) END;
CREATE TABLE zones AS SELECT * FROM zoned ORDER BY id;
DROP TABLE zoned;
ALTER TABLE zones SET (fillfactor = 10);
VACUUM FULL zones;
VACUUM ANALYZE zones;
SELECT penumbra.load('zones', ARRAY['id', 'i4', 'i8', 'd', 't', 'tz', 'n', 'm4', 'mt', 'mn']) > 0 AS is_loaded;
SELECT column_name, mismatches, problem FROM penumbra.verify('zones') WHERE mismatches > 0 OR problem IS NOT NULL;

CREATE FUNCTION answer(query text, mode text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  PERFORM set_config('penumbra.mode', mode, true);
  EXECUTE query INTO result;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
-- Queries of which the answers differ, and how many there are.
CREATE FUNCTION compare(queries text[]) RETURNS TABLE (count bigint, with_rows bigint, different text[]) LANGUAGE sql AS $$
  SELECT count(*), count(*) FILTER (WHERE stock !~ '^\(0,'), array_agg(q || ': ' || stock || ' and ' || ours ORDER BY q) FILTER (WHERE stock IS DISTINCT FROM ours)
  FROM (SELECT q, answer(q, 'off') AS stock, answer(q, 'require') AS ours FROM unnest(queries) q OFFSET 0) a $$;

CREATE FUNCTION constants_of(x text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL penumbra.mode = off;
  RETURN QUERY EXECUTE format('SELECT format(''%%L::%%s'', %1$I, pg_typeof(%1$I)) FROM zones WHERE id IN (1, 2049, 6006, 15999) OR id IN (SELECT min(id) FROM zones WHERE isempty(%1$I))', x);
END $$;
CREATE FUNCTION conditions_of(x text) RETURNS text[] LANGUAGE sql AS $$
  SELECT array_agg(format('SELECT (count(*), sum(id)) FROM zones WHERE %s', condition))
  FROM (SELECT condition FROM constants_of(x) c, unnest('{@>,<@,&&,<<,>>,&<,&>,-|-}'::text[]) op, LATERAL (VALUES (format('%I %s %s', x, op, c)), (format('%s %s %I', c, op, x))) v(condition)) a $$;
SELECT x, compare.* FROM unnest('{i4,i8,d,t,tz,n,m4,mt,mn}'::text[]) x, compare(conditions_of(x));
-- Ranges and multiranges, values, bounds.
CREATE FUNCTION pairs_of(x text, y text) RETURNS text[] LANGUAGE sql AS $$
  SELECT array_agg(format('SELECT (count(*), sum(id)) FROM zones WHERE %I %s %s', x, op, c)) FROM constants_of(y) c, unnest('{@>,<@,&&,<<,>>,&<,&>,-|-}'::text[]) op $$;
SELECT x, y, compare.* FROM (VALUES ('i4', 'm4'), ('m4', 'i4'), ('t', 'mt'), ('mt', 't'), ('n', 'mn'), ('mn', 'n')) v(x, y), compare(pairs_of(x, y));
CREATE FUNCTION values_of(x text, v text[]) RETURNS text[] LANGUAGE sql AS $$
  SELECT array_agg(format('SELECT (count(*), sum(id)) FROM zones WHERE %s', condition))
  FROM (SELECT condition FROM unnest(v) c, unnest('{<,<=,=,<>,>=,>}'::text[]) op, LATERAL (VALUES (format('lower(%s) %s %s', x, op, c)), (format('%s %s upper(%s)', c, op, x)), (format('%s <@ %s', c, x)), (format('%s @> %s', x, c)),
    (format('lower(%1$s) >= %2$s AND upper(%1$s) < %2$s', x, c)), (format('lower(%1$s) = %2$s OR %1$s @> %2$s OR %1$s IS NULL', x, c)), (format('NOT lower(%1$s) >= %2$s', x, c))) b(condition)) a $$;
SELECT x, compare.* FROM (VALUES ('i4', '{-8999,-1,0,1,6999,2147483647,-2147483648}'::text[]), ('m4', '{-8999,-1,0,6999}'), ('i8', '{20000000000,0,9223372036854775807,159990000000000}'),
  ('d', '{date ''2000-01-01'',date ''2010-02-03'',date ''-infinity'',date ''infinity''}'), ('t', '{timestamp ''2000-01-01 01:00'',timestamp ''2001-05-05 05:00'',timestamp ''-infinity'',timestamp ''infinity''}'),
  ('mt', '{timestamp ''2000-01-01 01:00'',timestamp ''2001-05-05 05:00''}'), ('tz', '{timestamptz ''2001-05-05 05:00 UTC''}')) v(x, v), compare(values_of(x, v));
SELECT x, compare.* FROM unnest('{n,mn}'::text[]) x, compare((SELECT array_agg(format('SELECT (count(*), sum(id)) FROM zones WHERE %s @> numeric %L', x, v))
  FROM unnest('{-3298.9,0,0.000,1.1,1.100,14299,14299.0001,Infinity,-Infinity,NaN}'::text[]) v));

-- Whole chunks, of which plans know.
CREATE FUNCTION chunks(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  SET LOCAL penumbra.mode = require;
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'Chunks' THEN
      RETURN trim(line);
    END IF;
  END LOOP;
END $$;
SELECT c, chunks('SELECT count(*) FROM zones WHERE ' || c) FROM unnest(ARRAY['i4 && int4range(-8990, -8980)', 'i4 >> int4range(6000, 6001)', 'i4 << int4range(-8990, -8989)', 'i4 <@ int4range(6980, 6990)', 'lower(i8) >= 159000000000000', 'upper(d) < ''2000-02-01''',
  't <@ tsrange(''2001-10-20'', ''2001-10-25'')', 'n <@ numrange(14000, 14005.5)', 'm4 && int4multirange(int4range(-8990, -8980))']) c;

-- Ranges of integers and dates that a query makes, with both bounds or none in them.
CREATE TABLE bounds AS SELECT i AS id, CASE WHEN i % 11 > 0 THEN i % 50 END AS a, CASE WHEN i % 13 > 0 THEN i % 50 + i % 4 END AS b, i % 60 AS v,
  (i % 50)::bigint AS a8, (i % 50 + i % 3)::bigint AS b8, date '2000-01-01' + i % 50 AS da, CASE WHEN i % 17 > 0 THEN date '2000-01-01' + i % 50 + i % 4 END AS db, date '2000-01-01' + i % 60 AS dv FROM generate_series(1, 3000) i;
VACUUM ANALYZE bounds;
SELECT penumbra.load('bounds') > 0 AS is_loaded;
SELECT compare.* FROM compare((SELECT array_agg(format('SELECT (count(*), sum(id)) FROM bounds WHERE ' || c, f)) FROM unnest('{[],[),(],()}'::text[]) f, unnest(ARRAY[
  'int4range(a, b, %1$L) @> v', 'v <@ int4range(a, 20, %1$L)', 'int4range(a, b, %1$L) && ''[10,20)''::int4range', 'int4range(a, b, %1$L) && int4range(v, v + 3, %1$L)', 'int8range(a8, b8, %1$L) @> v::bigint',
  'int8range(a8, b8, %1$L) && int8range(10, NULL, %1$L)', 'daterange(da, db, %1$L) @> dv', 'daterange(da, db, %1$L) && daterange(''2000-01-10'', ''2000-01-12'', ''[]'')', 'daterange(NULL, db, %1$L) @> dv',
  'daterange(da, db, %1$L) && daterange(dv, NULL, %1$L)', '(int4range(a, b, %1$L) @> v) IS NULL']) c));
-- The last value of the type, infinite dates, and bounds in no order.
INSERT INTO bounds VALUES (3001, 2147483647, 2147483647, 5, 9223372036854775807, 9223372036854775807, 'infinity', 'infinity', 'infinity'), (3002, 5, 7, 5, 5, 7, '-infinity', 'infinity', 'infinity'),
  (3003, -2147483648, 0, 5, 5, 7, '-infinity', '-infinity', '-infinity'), (3004, 1, 2, 5, 5, 7, '5874897-12-31', '5874897-12-31', '-infinity');
VACUUM ANALYZE bounds;
SELECT penumbra.load('bounds') IS NOT NULL AS is_loaded;
SELECT compare.* FROM compare((SELECT array_agg(format('SELECT (count(*), sum(id)) FROM bounds WHERE ' || c, f, i)) FROM unnest('{[],[),(],()}'::text[]) f, generate_series(3000, 3004) i, unnest(ARRAY[
  'CASE WHEN id < 2000 OR id = %2$s THEN int4range(a, b, %1$L) @> v END', 'CASE WHEN id < 2000 OR id = %2$s THEN int4range(a, b, %1$L) && int4range(v, v + 3, %1$L) END', 'CASE WHEN id < 2000 OR id = %2$s THEN int8range(a8, b8, %1$L) @> v::bigint END',
  'CASE WHEN id < 2000 OR id = %2$s THEN daterange(da, db, %1$L) @> dv END', 'CASE WHEN id < 2000 OR id = %2$s THEN daterange(da, db, %1$L) && daterange(dv, NULL, %1$L) END', 'int4range(b, a, %1$L) @> v AND id <= %2$s']) c));
SELECT compare.* FROM compare((SELECT array_agg(format('SELECT (count(*), sum(x.id)) FROM bounds x JOIN bounds y ON ' || c || ' AND x.id < 120 AND y.id < 601', f)) FROM unnest('{[],[),(],()}'::text[]) f, unnest(ARRAY[
  'int4range(x.a, x.b, %1$L) @> y.v', 'daterange(x.da, x.db, %1$L) && daterange(y.da, y.db, %1$L)']) c));
DROP SCHEMA range_zones CASCADE;
