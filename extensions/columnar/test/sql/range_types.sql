-- Functions and operators of ranges and multiranges run in vectors, with the answers of PostgreSQL's executor.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE SCHEMA range_types;
SET search_path = range_types;

\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

-- Ranges between any two of some values, with any bounds; the values, and multiranges of up to three ranges.
CREATE FUNCTION range_of(a text, b text, flags text, range_type text, OUT r text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT %L::%s', format('%s%s,%s%s', left(flags, 1), a, b, right(flags, 1)), range_type) INTO r;
EXCEPTION WHEN data_exception THEN  -- the bounds are in no order, or have no successor
END $$;
CREATE FUNCTION make_table(name text, value_type text, range_type text, multirange_type text, edges text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format($q$
    CREATE TABLE %1$I AS
    WITH ranges AS (
        SELECT x::%3$s AS r, row_number() OVER (ORDER BY x COLLATE "C") AS n
        FROM (SELECT DISTINCT range_of(a, b, f, %3$L) FROM unnest(%5$L::text[] || NULL) a, unnest(%5$L::text[] || NULL) b, unnest('{[],[),(],()}'::text[]) f) u(x))
    SELECT n::int AS id, r, ((%5$L::text[])[1 + n %% %6$s])::%2$s AS v,
      lag(r, 7) OVER (ORDER BY n * 7919 %% 997) AS s,
      CASE WHEN n %% 11 = 3 THEN NULL WHEN n %% 13 = 5 THEN '{}'
        ELSE coalesce(%4$s(r), '{}') + coalesce(%4$s(lag(r, 3) OVER (ORDER BY n * 7919 %% 991)), '{}')
          + coalesce(%4$s(lag(r, 5) OVER (ORDER BY n * 7919 %% 983)), '{}') END AS m
    FROM ranges$q$, name, value_type, range_type, multirange_type, edges, cardinality(edges));
  EXECUTE format('CREATE TABLE %I AS SELECT * FROM %I WHERE id %% 5 = 0', name || '_few', name);
END $$;
SELECT make_table('int4s', 'int4', 'int4range', 'int4multirange', '{-2147483648,-7,0,1,2,3,10,2147483647,NULL}');
SELECT make_table('int8s', 'int8', 'int8range', 'int8multirange', '{-9223372036854775808,-7,0,1,2,3,10,2147483647,NULL}');
SELECT make_table('dates', 'date', 'daterange', 'datemultirange', '{-infinity,4713-01-01 BC,2000-01-01,2000-01-02,2000-01-03,2024-02-29,infinity,NULL}');
SELECT make_table('times', 'timestamp', 'tsrange', 'tsmultirange', '{-infinity,2000-01-01,2000-01-01 00:00:00.000001,2000-01-02,2024-02-29 12:00,infinity,NULL}');
SELECT make_table('instants', 'timestamptz', 'tstzrange', 'tstzmultirange', '{-infinity,2000-01-01,2000-01-01 00:00:00.000001,2000-01-02,2024-02-29 12:00,infinity,NULL}');
SELECT make_table('numbers', 'numeric', 'numrange', 'nummultirange', '{-Infinity,-12345.678,-1.5,0,0.1,1,10000,10000.0001,Infinity,NaN,NULL}');
SELECT t, penumbra.load(t) > 0 AS is_loaded FROM unnest('{int4s,int8s,dates,times,instants,numbers}'::text[]) t;
SELECT penumbra.load(t || '_few') IS NOT NULL AS is_loaded FROM unnest('{int4s,int8s,dates,times,instants,numbers}'::text[]) t;
SELECT penumbra.load('numbers', ARRAY['r', 's', 'm', 'lower(r)', 'upper(r)', 'isempty(r)', 'lower_inc(r)', 'upper_inc(r)', 'lower_inf(r)', 'upper_inf(r)',
  'lower(m)', 'upper(m)', 'isempty(m)', 'lower_inc(m)', 'upper_inc(m)', 'lower_inf(m)', 'upper_inf(m)']) > 0 AS is_loaded;

-- Of a range alone, and of a multirange.
SELECT t, x, agree(format('SELECT id, lower(%2$s), upper(%2$s), isempty(%2$s), lower_inc(%2$s), upper_inc(%2$s), lower_inf(%2$s), upper_inf(%2$s) FROM %1$s '
  'WHERE lower(%2$s) IS NULL OR NOT isempty(%2$s) OR lower_inc(%2$s) OR upper_inc(%2$s) OR lower_inf(%2$s) OR upper_inf(%2$s)', t, x))
FROM unnest('{int4s,int8s,dates,times,instants}'::text[]) t, unnest('{r,m}'::text[]) x;
SELECT x, agree(format('SELECT lower_inc(%1$s), upper_inc(%1$s), lower_inf(%1$s), upper_inf(%1$s), isempty(%1$s), count(*), min(lower(%1$s)), max(upper(%1$s)) FROM numbers GROUP BY 1, 2, 3, 4, 5', x))
FROM unnest('{r,m}'::text[]) x;

-- Of two, of which one may be a constant: and empty ranges, and NULL.
CREATE FUNCTION constants(t text, x text, OUT c text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL penumbra.mode = off;
  RETURN QUERY EXECUTE format('SELECT format(''%%L::%%s'', %2$s, pg_typeof(%2$s)) FROM %1$s WHERE id IN (SELECT id FROM %1$s WHERE %2$s IS NOT NULL ORDER BY id * 7919 %% 997 LIMIT 9) UNION SELECT ''''''empty''''::'' || pg_typeof(r) FROM %1$s WHERE %2$L = ''r''', t, x);
END $$;
CREATE FUNCTION check_pairs(t text) RETURNS TABLE (kind text, op text, results text[]) LANGUAGE sql AS $$
  SELECT k.kind, o.op, array_agg(DISTINCT agree(format('SELECT id, bool_or(%1$s %2$s %3$s) FROM %4$s WHERE (%1$s %2$s %3$s) IS NOT FALSE GROUP BY id', k.a, o.op, k.b, t)))
  FROM (SELECT a || b AS kind, a, b FROM unnest('{r,s,m}'::text[]) a, unnest('{r,m}'::text[]) b
        UNION ALL SELECT 'r const', 'r', c FROM constants(t, 'r') c UNION ALL SELECT 'const r', c, 'r' FROM constants(t, 'r') c
        UNION ALL SELECT 'm const', 'm', c FROM constants(t, 'm') c UNION ALL SELECT 'r mconst', 'r', c FROM constants(t, 'm') c) k,
    unnest('{@>,<@,&&,<<,>>,&<,&>,-|-}'::text[]) o(op)
  GROUP BY 1, 2 ORDER BY 1, op COLLATE "C" $$;
SELECT * FROM check_pairs('int4s');
SELECT * FROM check_pairs('dates');
SELECT * FROM check_pairs('times');
SELECT t, kind, op, results FROM unnest('{int8s,instants,numbers}'::text[]) t, check_pairs(t)
WHERE results::text ~ 'DIFFERENT|:';

-- Values and ranges.
CREATE FUNCTION check_values(t text) RETURNS TABLE (kind text, results text[]) LANGUAGE sql AS $$
  SELECT k.kind, array_agg(DISTINCT agree(format('SELECT id, bool_or(%1$s) FROM %2$s WHERE (%1$s) IS NOT FALSE GROUP BY id', k.x, t)))
  FROM (SELECT 'columns' AS kind, x FROM unnest('{r @> v,v <@ r,m @> v,v <@ m}'::text[]) x
        UNION ALL SELECT 'value const', format('r @> %s', c) FROM constants(t, 'v') c UNION ALL SELECT 'value mconst', format('%s <@ m', c) FROM constants(t, 'v') c
        UNION ALL SELECT 'range const', format('v <@ %s', c) FROM constants(t, 'r') c WHERE c !~ 'empty' UNION ALL SELECT 'range const', format('%s @> v', c) FROM constants(t, 'm') c) k
  GROUP BY 1 ORDER BY 1 $$;
SELECT t, kind, results FROM unnest('{int4s,int8s,dates,times,instants}'::text[]) t, check_values(t);
SELECT kind, results FROM check_values('numbers') WHERE kind LIKE 'value%' OR kind = 'columns';
-- from 17 on PostgreSQL takes this for false where the value is NULL, too
SELECT agree('SELECT count(*) FROM int4s WHERE (v <@ ''empty''::int4range) IS NOT FALSE'), agree('SELECT count(*) FROM times WHERE v <@ ''empty''::tsrange');

-- Intersections, as durations of overlaps; keys of groups, aggregates' arguments, orders.
SELECT t, agree(format('SELECT r * s, count(*), max(upper(r * s)) FROM %s GROUP BY 1', t)) FROM unnest('{int4s,int8s,dates,times,instants}'::text[]) t;
SELECT agree('SELECT lower(r), count(*) FILTER (WHERE r @> date ''2000-01-02''), bool_or(r && s), min(upper(r)) FROM dates GROUP BY 1 ORDER BY 1');
SELECT agree('SELECT r @> date ''2000-01-02'', count(DISTINCT upper(r) - lower(r)) FROM dates WHERE upper(r) < ''2100-01-01'' AND lower(r) > ''1999-01-01'' GROUP BY 1');
SELECT agree('SELECT CASE WHEN v <@ r THEN lower(r) ELSE v END, sum(upper(r)::bigint - v) FROM int4s WHERE NOT isempty(r) GROUP BY 1');

-- Joins search by the bounds of ranges.
CREATE FUNCTION joined(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  form text := '';
BEGIN
  PERFORM set_config('penumbra.mode', 'prefer', true);
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    form := coalesce(substring(line FROM 'Vector Join Table: (.*) of \d+ rows'), form);
  END LOOP;
  RETURN form || ': ' || agree(query);
END $$;
SELECT t, op, joined(format('SELECT a.id, b.id FROM %1$s a JOIN %1$s_few b ON %2$s', t, op))
FROM unnest('{int4s,int8s,dates,times,instants}'::text[]) t,
  unnest('{a.r @> b.v,a.v <@ b.r,a.r && b.r,a.r @> b.r,a.r <@ b.r,a.r << b.r,a.r >> b.r,a.r &< b.r,a.r &> b.r,a.m && b.r,a.r @> b.m,a.r -|- b.r}'::text[]) op;
SELECT joined('SELECT a.id, b.id FROM dates a LEFT JOIN dates_few b ON a.r @> b.v');
SELECT kind, joined(format('SELECT id FROM dates a WHERE %s (SELECT FROM dates_few b WHERE a.r && b.r AND a.id <> b.id)', kind)) FROM unnest('{EXISTS,NOT EXISTS}'::text[]) kind;
SELECT joined('SELECT day, count(*) FROM generate_series(date ''1999-12-25'', ''2000-01-10'', ''1 day'') day JOIN dates ON r @> day::date GROUP BY 1');

-- Parameters, and values that are known when the query starts.
PREPARE containing(date) AS SELECT count(*) FROM dates WHERE r @> $1;
SET plan_cache_mode = force_generic_plan;
SET penumbra.mode = require;
EXECUTE containing('2000-01-02');
EXECUTE containing(NULL);
EXECUTE containing('infinity');
PREPARE within(int4range) AS SELECT count(*) FROM int4s WHERE v <@ $1;
EXECUTE within('[1,3)');
EXECUTE within('empty');
EXECUTE within(NULL);
PREPARE numeric_containing(numeric) AS SELECT count(*), count(r @> $1) FROM numbers WHERE (r @> $1) IS NOT FALSE;
EXECUTE numeric_containing(1.000);
EXECUTE numeric_containing('NaN');
EXECUTE numeric_containing(NULL);
RESET penumbra.mode;
RESET plan_cache_mode;

-- Ranges that a query makes of columns: NULL is no bound, and bounds in no order are an error of the rows that SQL
-- evaluates.
CREATE TABLE spans AS SELECT g AS id, CASE WHEN g % 7 > 0 THEN timestamp '2024-01-01' + g % 20 * interval '1 day' END AS a,
  CASE WHEN g % 5 > 0 THEN timestamp '2024-01-01' + (g % 20 + g % 3) * interval '1 day' END AS b, CASE WHEN g % 11 > 0 THEN g % 30 END AS i, g % 30 + g % 4 AS j, g::numeric / 4 AS n
FROM generate_series(1, 400) g;
CREATE TABLE spans_few AS SELECT * FROM spans WHERE id % 9 = 0;
SELECT penumbra.load('spans') > 0 AS is_loaded, penumbra.load('spans_few') > 0;
SELECT x, agree(format('SELECT id, bool_or(%1$s) FROM spans WHERE (%1$s) IS NOT FALSE GROUP BY id', x)) FROM unnest(ARRAY[
  'tsrange(a, b) @> timestamp ''2024-01-05''', 'tsrange(a, b, ''[]'') @> a', 'tsrange(a, b, ''()'') @> a', 'tsrange(NULL, b, ''(]'') @> a', 'a <@ tsrange(b, NULL)',
  'tsrange(a, b) && tsrange(''2024-01-05'', ''2024-01-07'')', 'tsrange(a, b, ''[]'') && tsrange(''2024-01-05'', ''2024-01-05'', ''[]'')', 'tsrange(''2024-01-05'', NULL) && tsrange(a, b, ''()'')',
  'int4range(i, j) && int4range(5, 7)', 'int4range(i, j) @> 9', 'int4range(i, j) @> i', 'tsrange(a, NULL) && tsrange(NULL, b)', 'tsrange(NULL, NULL) @> a',
  'numrange(i, j, ''[]'') @> n', 'tsrange(a, b) && tsrange(a, a, ''[]'')', 'tsrange(a, b) && ''empty''', 'int4range(i, j, ''[]'') && int4range(5, 7)', 'tsrange(a, b) @> tsrange(a, b)']) x;
SELECT rows_of(q, 'off') = rows_of(q, 'prefer') AS are_equal, (rows_of(q, 'prefer'))[3]
FROM unnest(ARRAY['SELECT count(*) FROM spans WHERE tsrange(a, b - interval ''1 day'') @> a', 'SELECT count(*) FROM spans WHERE int4range(j, i) && int4range(0, NULL)',
  'SELECT a.id, b.id FROM spans a JOIN spans_few b ON tsrange(a.a, a.b - interval ''1 hour'') && tsrange(b.a, b.b)']) q;
SELECT agree('SELECT count(*) FROM spans WHERE CASE WHEN a < b THEN tsrange(a, b - interval ''1 hour'') @> a END');
SELECT op, joined(format('SELECT a.id, b.id FROM spans a JOIN spans_few b ON %s', op))
FROM unnest(ARRAY['tsrange(a.a, a.b) && tsrange(b.a, b.b, ''[]'')', 'int4range(a.i, a.j) @> b.i', 'tsrange(a.a, a.b) @> b.a AND a.id < b.id', 'a.i <@ int4range(b.i, b.j)']) op;
SELECT joined('SELECT a.id, b.id FROM spans a JOIN spans_few b ON a.a < a.b AND tsrange(a.a, a.b - interval ''1 hour'') && tsrange(b.a, b.b)');

-- Ranges of a user's own types are PostgreSQL's, but for values of a column in a constant one.
CREATE TYPE floatrange AS RANGE (subtype = float8, subtype_diff = float8mi);
CREATE TABLE floats AS SELECT g AS id, floatrange(g, g + 2.5, '[]') AS r, g::float8 / 7 AS f FROM generate_series(1, 100) g;
SELECT penumbra.load('floats') > 0 AS is_loaded;
SELECT agree('SELECT id FROM floats WHERE f <@ floatrange(2, 4, ''(]'')');
SELECT rows_of('SELECT id FROM floats WHERE r @> 4.0::float8', 'prefer') = rows_of('SELECT id FROM floats WHERE r @> 4.0::float8', 'off') AS are_equal;
-- A constant range skips what its values cannot be in.
CREATE FUNCTION chunks(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  PERFORM set_config('penumbra.mode', 'require', true);
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'Chunks:' THEN
      RETURN trim(line);
    END IF;
  END LOOP;
END $$;
SELECT chunks('SELECT count(*) FROM int4s WHERE id <@ int4range(1000, NULL)');

DROP SCHEMA range_types CASCADE;
