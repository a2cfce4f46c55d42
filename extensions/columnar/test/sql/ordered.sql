-- Ordered-set aggregates in vectors: what runs, what PostgreSQL runs and why, errors, and what they leave to execution.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE o (id int, g int, v int, f float8, n numeric, m numeric(8, 2), t text, c char(3), i interval, z float8);
INSERT INTO o SELECT i, i % 7, nullif(i % 50, 3), i / 3.0, i % 9 / 4.0, i % 100, 'text ' || i % 13, 'c' || i % 4,
  i * interval '1 hour', CASE i % 2 WHEN 0 THEN '-0' ELSE '0' END::float8 FROM generate_series(1, 5000) i;
VACUUM ANALYZE o;
SELECT penumbra.load('o') > 0 AS loaded;
CREATE TABLE rows_of (id int, a text, b text, d date, s timestamp, z timestamptz);
INSERT INTO rows_of VALUES (1, 'a,1:b', 'c'), (2, 'a', 'b,1:c'), (3, 'a', NULL), (4, 'a', ''), (5, 'a', ''), (6, NULL, 'a'),
  (7, NULL, NULL), (8, NULL, NULL), (9, '', NULL), (10, '1:a', '1'), (11, '1', '1:a');
INSERT INTO rows_of (id, d, s, z) VALUES (12, 'infinity', 'infinity', '-infinity'), (13, '-infinity', 'infinity', 'infinity'),
  (14, 'infinity', '-infinity', 'infinity'), (15, '5874897-12-31', '294276-12-31', '4714-11-24 BC'), (16, '4714-11-24 BC', NULL, NULL),
  (17, '2001-02-03', '2001-02-03 00:00:00.000001', '2001-02-03'), (18, '2001-02-03', '2001-02-03', '2001-02-03');
VACUUM ANALYZE rows_of;
SELECT penumbra.load('rows_of') > 0 AS loaded;
-- columns of types that the engine has images of, and one that is gone
CREATE TYPE kind AS ENUM ('small', 'large');
CREATE TABLE wide (id int, gone text, kind kind, whole bool, address inet, at time, code uuid, bytes bytea, small int2, large int8, single real,
  bits bit(3), named varchar(9), money money);
INSERT INTO wide SELECT i, 'gone', (ARRAY['large', 'small', NULL]::kind[])[1 + i % 3], i % 2 = 0, ('10.0.0.' || i)::inet, i * interval '1 minute',
  md5(i::text)::uuid, decode(md5(i::text), 'hex'), i, i * 5000000000, i / 7.0, (i % 8)::bit(3), 'n' || i, i FROM generate_series(1, 50) i;
UPDATE wide SET kind = 'small' WHERE kind IS NULL;
INSERT INTO wide (id, kind) VALUES (60, 'large');
ALTER TABLE wide DROP COLUMN gone;
VACUUM FULL ANALYZE wide;
VACUUM wide;
SELECT penumbra.load('wide') > 0 AS loaded;
-- whether the query runs in vectors, or why not, and whether the answer is PostgreSQL's
CREATE FUNCTION ordered(query text, OUT in_vectors boolean, OUT reason text, OUT are_equal boolean)
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	expected text;
	found text;
BEGIN
	SET LOCAL penumbra.mode = off;
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s) q', query) INTO expected;
	SET LOCAL penumbra.mode = prefer;
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s OFFSET 0) q', query) INTO found;
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT json) ' || query INTO plan;
	are_equal := expected IS NOT DISTINCT FROM found;
	in_vectors := plan -> 0 -> 'Plan' ->> 'Node Type' = 'Custom Scan' AND plan::text !~ 'Ordinary Plan Used';
	reason := coalesce(plan -> 0 ->> 'Penumbra', substring(plan::text FROM '"Ordinary Plan Used": "([^"]*)"'));
	RESET penumbra.mode;
END $$;
EXPLAIN (COSTS OFF) SELECT g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v DESC), mode() WITHIN GROUP (ORDER BY t)
  FROM o WHERE id > 9 GROUP BY g;
SELECT * FROM ordered('SELECT g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v), percentile_cont(0.9) WITHIN GROUP (ORDER BY v DESC),
  percentile_cont(0.1) WITHIN GROUP (ORDER BY n), percentile_cont(0.3) WITHIN GROUP (ORDER BY i) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY t), percentile_disc(1) WITHIN GROUP (ORDER BY m DESC),
  percentile_disc(NULL) WITHIN GROUP (ORDER BY v), percentile_disc(0) WITHIN GROUP (ORDER BY c) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT mode() WITHIN GROUP (ORDER BY v), mode() WITHIN GROUP (ORDER BY t DESC),
  mode() WITHIN GROUP (ORDER BY i) FILTER (WHERE v > 5), mode() WITHIN GROUP (ORDER BY f) FILTER (WHERE id < 0) FROM o');
SELECT * FROM ordered('SELECT g, v, percentile_cont(0.5) WITHIN GROUP (ORDER BY f), mode() WITHIN GROUP (ORDER BY m), bit_xor(id)
  FROM o GROUP BY ROLLUP (g, v)');
SELECT * FROM ordered('SELECT bit_and(v), bit_or(v), bit_xor(id), bit_or(DISTINCT v) FILTER (WHERE g = 1) FROM o');
-- of bit strings, one of which is longer than what a state holds itself, and errors
CREATE TABLE strings (id int, g int, b bit(9), l varbit, n varbit);
INSERT INTO strings SELECT i, i % 5, nullif(i % 11, 3)::bit(9), (repeat((i % 3)::bit(3)::text, 20) || i::bit(13)::text)::varbit,
  CASE WHEN i % 5 < 2 THEN (i % 5 + 1)::bit(4)::varbit WHEN i % 5 = 3 THEN B'' END FROM generate_series(1, 3000) i;
UPDATE strings SET l = l || B'1' WHERE id = 2900;
UPDATE strings SET n = B'101' WHERE id = 2901;
VACUUM ANALYZE strings;
SELECT penumbra.load('strings') > 0 AS loaded;
SELECT * FROM ordered('SELECT g, bit_and(b), bit_or(b), bit_xor(b), bit_xor(DISTINCT b), bit_or(b) FILTER (WHERE id > 2000) FROM strings GROUP BY g');
SELECT * FROM ordered('SELECT bit_and(l), bit_or(l), bit_xor(l), bit_and(l) FILTER (WHERE id < 0) FROM strings WHERE id < 2900');
SELECT * FROM ordered('SELECT g, id % 100 AS k, bit_xor(l), count(*) FROM strings WHERE id < 2900 GROUP BY ROLLUP (g, 2)');
SELECT * FROM ordered('SELECT g, bit_or(n), bit_and(n), bit_xor(n) FROM strings WHERE id < 2900 GROUP BY g');
SELECT * FROM ordered('SELECT id, bit_or(b) OVER (PARTITION BY g ORDER BY id) FROM strings');
SELECT * FROM ordered('SELECT id, bit_or(l) OVER (ORDER BY id ROWS 3 PRECEDING) FROM strings WHERE id < 2900');
SELECT * FROM ordered('SELECT g, (SELECT bit_and(s.b) FROM strings s WHERE s.g = o.g) FROM o WHERE id < 30');
SET penumbra.mode = require;
SELECT bit_and(l) FROM strings;
SELECT bit_or(l) FROM strings;
SELECT bit_xor(l) FROM strings;
SELECT g, bit_xor(n) FROM strings WHERE id > 2899 GROUP BY g;
RESET penumbra.mode;
SELECT * FROM ordered('SELECT g FROM o GROUP BY g HAVING percentile_cont(0.5) WITHIN GROUP (ORDER BY id) > 2501');
SELECT * FROM ordered('SELECT a.id, (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY b.id) FROM o b WHERE b.v = a.v) FROM o a
  WHERE a.id < 100');
-- an order that changes nothing is dropped
SELECT * FROM ordered('SELECT g, count(v ORDER BY id), sum(v ORDER BY f DESC), min(t ORDER BY v), avg(m ORDER BY id) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT sum(f ORDER BY f) FROM o');
SELECT * FROM ordered('SELECT max(n ORDER BY id) FROM o');
SELECT * FROM ordered('SELECT count(v ORDER BY 1 / id) FROM o');
-- what is collected in an order
EXPLAIN (COSTS OFF) SELECT g, string_agg(t, ',' ORDER BY v DESC NULLS LAST, id), array_agg(DISTINCT v) FROM o GROUP BY g;
SELECT * FROM ordered('SELECT g, string_agg(t, '', '' ORDER BY v DESC NULLS LAST, id), string_agg(t, c ORDER BY t, id)
  FILTER (WHERE v > 5), string_agg(t, NULL ORDER BY id), string_agg(DISTINCT t, '';'') FROM o GROUP BY g');
SELECT * FROM ordered('SELECT string_agg(NULLIF(t, t), '','' ORDER BY id), string_agg(DISTINCT t, c ORDER BY t DESC), string_agg(c, '''' ORDER BY n, id)
  FROM o WHERE id < 50');
-- arrays are PostgreSQL's byte for byte
SELECT * FROM ordered('SELECT g, array_send(a), array_dims(b), array_send(b) FROM (SELECT g, array_agg(v ORDER BY id) AS a, array_agg(t ORDER BY id) AS b
  FROM o GROUP BY g OFFSET 0) q');
SELECT * FROM ordered('SELECT g, array_agg(id ORDER BY f DESC), array_agg(f ORDER BY id), array_agg(n ORDER BY id), array_agg(m ORDER BY id),
  array_agg(t ORDER BY v NULLS FIRST, id), array_agg(c ORDER BY id), array_agg(i ORDER BY id), array_agg(v = 5 ORDER BY id),
  array_agg(v::int2 ORDER BY id), array_agg(id::int8 ORDER BY id), array_agg(f::real ORDER BY id) FROM o WHERE id < 300 GROUP BY g');
SELECT * FROM ordered('SELECT array_agg(DISTINCT v), array_agg(DISTINCT v ORDER BY v DESC), count(DISTINCT v), array_agg(v ORDER BY id) FILTER (WHERE id < 0) FROM o');
-- JSON of what was collected
SELECT * FROM ordered('SELECT g, json_agg(v ORDER BY id), jsonb_agg(n ORDER BY id DESC), json_agg(t ORDER BY v NULLS FIRST, id), jsonb_agg(c ORDER BY id),
  json_agg(i ORDER BY id), json_agg(v = 5 ORDER BY id), jsonb_agg(f ORDER BY id), json_agg(m ORDER BY id) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT json_agg(DISTINCT v), jsonb_agg(DISTINCT t ORDER BY t DESC), json_agg(v ORDER BY id) FILTER (WHERE id < 0), jsonb_agg(v ORDER BY id) FROM o');
SELECT * FROM ordered('SELECT json_agg(d ORDER BY id), jsonb_agg(s ORDER BY id), json_agg(z ORDER BY id), json_agg(a ORDER BY id), jsonb_agg(b ORDER BY id) FROM rows_of');
SELECT * FROM ordered('SELECT json_agg(CASE v WHEN 1 THEN ''NaN'' WHEN 2 THEN n END ORDER BY id), jsonb_agg(CASE v WHEN 1 THEN ''NaN'' WHEN 2 THEN ''-Infinity'' ELSE f END ORDER BY id) FROM o');
SELECT * FROM ordered('SELECT json_agg(t ORDER BY id), jsonb_agg(t ORDER BY id) FROM o WHERE id < 0');
SELECT * FROM ordered('SELECT g, j, length(j::text) FROM (SELECT g, json_agg(id ORDER BY id) AS j FROM o GROUP BY g) q WHERE g > 3');
SELECT * FROM ordered('SELECT g, v, jsonb_agg(id ORDER BY id), jsonb_array_length(jsonb_agg(id ORDER BY id)) FROM o WHERE id < 500 GROUP BY ROLLUP (g, v)');
-- of rows, and of what PostgreSQL makes of columns
SELECT * FROM ordered('SELECT g, json_agg(o ORDER BY id), jsonb_agg(row_to_json(o) ORDER BY id DESC) FROM o WHERE id < 400 GROUP BY g');
SELECT * FROM ordered('SELECT json_agg(q ORDER BY id), jsonb_agg(to_jsonb(q) ORDER BY id) FROM (SELECT id, t AS "a name", n FROM o WHERE v < 9) q');
SELECT * FROM ordered('SELECT g, json_agg(json_build_object(''id'', id, ''twice'', 2 * m, ''list'', ARRAY[v, g], ''none'', NULL) ORDER BY t, id) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT json_agg(ROW(v, t, i) ORDER BY id), json_agg((z, c) ORDER BY id), jsonb_agg(ARRAY[v, g] ORDER BY id) FROM o');
SELECT * FROM ordered('SELECT json_agg(o ORDER BY id) FILTER (WHERE v = 7), jsonb_agg(o) FROM o WHERE id < 300');
SELECT * FROM ordered('SELECT json_agg(1 ORDER BY id), json_agg(NULL::int ORDER BY id), jsonb_agg(json_build_array(1, ''x'') ORDER BY id) FROM o WHERE id < 9');
SELECT * FROM ordered('SELECT json_agg(upper(t) || quote_literal(c) ORDER BY id), jsonb_agg(format(''%s %s'', v, t) ORDER BY id) FROM o');
SELECT * FROM ordered('SELECT a.g, json_agg(a ORDER BY a.id, b.id), json_agg(json_build_object(''a'', a.id, ''b'', b.a) ORDER BY a.id, b.id)
  FROM o a JOIN rows_of b ON b.id = a.id GROUP BY a.g');
SELECT * FROM ordered('SELECT json_agg(r ORDER BY id) FROM rows_of r');
SELECT * FROM ordered('SELECT json_agg(w ORDER BY id), json_object_agg(kind, whole ORDER BY id), jsonb_agg(DISTINCT kind), jsonb_agg(address ORDER BY id) FROM wide w');
-- objects: the last of equal keys, all of them; a row without a key is an error, also of a group that nobody sees
SELECT * FROM ordered('SELECT g, json_object_agg(id, v ORDER BY id), jsonb_object_agg(t, n ORDER BY id), jsonb_object_agg(c, ROW(v, t) ORDER BY id DESC) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT json_object_agg(DISTINCT v, t ORDER BY v, t), jsonb_object_agg(DISTINCT t, v) FROM o WHERE v IS NOT NULL');
SELECT * FROM ordered('SELECT json_object_agg(id, t), jsonb_object_agg(''key'', t), json_object_agg(v, m) FILTER (WHERE v IS NOT NULL) FROM o');
SELECT * FROM ordered('SELECT json_object_agg(t, v ORDER BY id), jsonb_object_agg(t, v ORDER BY id) FROM o WHERE id < 0');
SELECT * FROM ordered('SELECT v, json_object_agg(g || t, id ORDER BY id) FROM o GROUP BY v HAVING count(*) > 3');
-- errors, whose words differ between versions
CREATE FUNCTION is_same_error(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  mode text;
  errors text[] := '{}';
BEGIN
  FOREACH mode IN ARRAY '{off,prefer}'::text[] LOOP
    BEGIN
      PERFORM set_config('penumbra.mode', mode, true);
      EXECUTE query;
    EXCEPTION WHEN OTHERS THEN
      errors := errors || (SQLSTATE || SQLERRM);
    END;
  END LOOP;
  RETURN cardinality(errors) = 2 AND errors[1] = errors[2];
END $$;
SELECT is_same_error(q) FROM unnest(ARRAY[
  'SELECT json_object_agg(v, t ORDER BY id) FROM o',
  'SELECT g, jsonb_object_agg(v, t ORDER BY id) FROM o GROUP BY g HAVING count(*) > 9999',
  'SELECT json_object_agg(ARRAY[v], t ORDER BY id) FROM o',
  'SELECT json_object_agg(CASE WHEN v > 4 THEN v END, t ORDER BY id) FILTER (WHERE v > 3) FROM o',
  'SELECT json_agg(json_build_object(NULLIF(t, ''text 4''), v) ORDER BY id) FROM o']) q;
SELECT * FROM ordered('SELECT g, v, array_agg(id ORDER BY id), string_agg(t, '','' ORDER BY id) FROM o WHERE id < 500 GROUP BY CUBE (g, v)');
SELECT * FROM ordered('SELECT a.id, (SELECT string_agg(b.t, '','' ORDER BY b.id) FROM o b WHERE b.v = a.v) FROM o a WHERE a.id < 100');
SELECT * FROM ordered('SELECT g, cardinality(array_agg(t ORDER BY id)) FROM o GROUP BY g HAVING length(string_agg(t, '','' ORDER BY id)) > 10');
-- rows that differ, which are compared as PostgreSQL's are: NULLs are equal, texts keep their limits
SELECT * FROM ordered('SELECT g, count(DISTINCT (v, t)), count(DISTINCT (v, m, id % 5)) FILTER (WHERE id > 9), count(DISTINCT ROW(v)), count(*) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT count(DISTINCT (a, b)), count(DISTINCT (b, a, id = 0)), count(DISTINCT (d, s)), count(DISTINCT (s, NULL::int, z)) FROM rows_of');
SELECT * FROM ordered('SELECT count(DISTINCT (NULL::int, 1)) FROM o');
SELECT count(DISTINCT (a, b)), count(DISTINCT (d, s)), count(DISTINCT (z, d)) FROM rows_of;
SELECT * FROM ordered('SELECT count(DISTINCT (f, v)) FROM o');
SELECT * FROM ordered('SELECT count(DISTINCT (n, v)) FROM o');
SELECT * FROM ordered('SELECT count(DISTINCT (c, i)) FROM o');
-- arrays of fractions
SELECT * FROM ordered('SELECT g, percentile_cont(ARRAY[0, 0.5, 0.9, 0.5]) WITHIN GROUP (ORDER BY f), percentile_cont(0.5) WITHIN GROUP (ORDER BY f) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT percentile_cont(ARRAY[0.1, 0.7]) WITHIN GROUP (ORDER BY i DESC), percentile_disc(ARRAY[1, 0]) WITHIN GROUP (ORDER BY m),
  percentile_disc(ARRAY[0.3]) WITHIN GROUP (ORDER BY t DESC), percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY c), percentile_disc(ARRAY[0.3, 0.6]) WITHIN GROUP (ORDER BY v) FROM o');
SELECT * FROM ordered('SELECT g, percentile_disc(ARRAY[0.5]) WITHIN GROUP (ORDER BY v) FILTER (WHERE id < 3), percentile_disc(NULL::float8[]) WITHIN GROUP (ORDER BY v) FROM o GROUP BY g');
-- of hypothetical rows, before, among and behind the others
SELECT * FROM ordered('SELECT g, rank(5) WITHIN GROUP (ORDER BY v), dense_rank(5) WITHIN GROUP (ORDER BY v), percent_rank(5) WITHIN GROUP (ORDER BY v), cume_dist(5) WITHIN GROUP (ORDER BY v) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT rank(5) WITHIN GROUP (ORDER BY v DESC), dense_rank(5) WITHIN GROUP (ORDER BY v DESC), percent_rank(5) WITHIN GROUP (ORDER BY v DESC), cume_dist(5) WITHIN GROUP (ORDER BY v DESC) FROM o');
SELECT * FROM ordered('SELECT g, v, dense_rank(2.50) WITHIN GROUP (ORDER BY n), rank(''text 3'') WITHIN GROUP (ORDER BY t DESC NULLS LAST) FILTER (WHERE v < 9), cume_dist(0) WITHIN GROUP (ORDER BY z) FROM o GROUP BY CUBE (g, v)');
-- several keys; NULLs and values of the group
SELECT * FROM ordered('SELECT rank(5, 6) WITHIN GROUP (ORDER BY v, g), dense_rank(5, 6) WITHIN GROUP (ORDER BY v, g), percent_rank(5, 6) WITHIN GROUP (ORDER BY v, g), cume_dist(5, 6) WITHIN GROUP (ORDER BY v, g) FROM o');
SELECT * FROM ordered('SELECT g, rank(5, 2.5, ''text 4'') WITHIN GROUP (ORDER BY v DESC, n, t DESC), cume_dist(5, 2.5, ''text 4'') WITHIN GROUP (ORDER BY v DESC NULLS LAST, n DESC, t) FILTER (WHERE id > 50), percent_rank(1, NULL) WITHIN GROUP (ORDER BY v, m) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT g, dense_rank(NULL, 3) WITHIN GROUP (ORDER BY v NULLS FIRST, id), dense_rank(5, NULL) WITHIN GROUP (ORDER BY m, v), dense_rank(5, NULL) WITHIN GROUP (ORDER BY m DESC, v NULLS FIRST) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT g, rank(g) WITHIN GROUP (ORDER BY v), dense_rank(NULL) WITHIN GROUP (ORDER BY v), rank(NULL) WITHIN GROUP (ORDER BY v NULLS FIRST), cume_dist(NULL) WITHIN GROUP (ORDER BY v NULLS FIRST), dense_rank(g, NULL) WITHIN GROUP (ORDER BY v, t) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT g, v, rank(v) WITHIN GROUP (ORDER BY id), percent_rank(v, g) WITHIN GROUP (ORDER BY g, id) FROM o GROUP BY g, v');
SELECT * FROM ordered('SELECT rank(5, 6) WITHIN GROUP (ORDER BY v, g), dense_rank(5, 6) WITHIN GROUP (ORDER BY v, g), percent_rank(5, 6) WITHIN GROUP (ORDER BY v, g), cume_dist(5, 6) WITHIN GROUP (ORDER BY v, g) FROM o WHERE id < 0');
SELECT * FROM ordered('SELECT rank(1) WITHIN GROUP (ORDER BY v), dense_rank(1) WITHIN GROUP (ORDER BY v DESC), percent_rank(1) WITHIN GROUP (ORDER BY v), cume_dist(1) WITHIN GROUP (ORDER BY v) FROM o WHERE id < 0');
SELECT * FROM ordered('SELECT g, rank(7) WITHIN GROUP (ORDER BY v NULLS FIRST) * 2 AS r FROM o GROUP BY g HAVING dense_rank(900) WITHIN GROUP (ORDER BY v NULLS FIRST) > 3 AND percent_rank(7) WITHIN GROUP (ORDER BY id) < 0.5');
-- what is PostgreSQL's
SELECT * FROM ordered('SELECT percentile_cont(ARRAY[0.5, NULL]) WITHIN GROUP (ORDER BY f) FROM o');
SELECT * FROM ordered('SELECT percentile_cont(ARRAY[[0.5], [0.9]]) WITHIN GROUP (ORDER BY f) FROM o');
SELECT * FROM ordered('SELECT percentile_cont(ARRAY[]::float8[]) WITHIN GROUP (ORDER BY f) FROM o');
SELECT * FROM ordered('SELECT g, percentile_cont(g / 10.0) WITHIN GROUP (ORDER BY f) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT g, rank(1 / g) WITHIN GROUP (ORDER BY v) FROM o WHERE g > 0 GROUP BY g');
SELECT * FROM ordered('SELECT rank(5, 1) WITHIN GROUP (ORDER BY v, 1 / id) FROM o');
SELECT * FROM ordered('SELECT g, rank(g) WITHIN GROUP (ORDER BY v) FROM o GROUP BY CUBE (g)');
SELECT * FROM ordered('SELECT dense_rank(5, 0.25) WITHIN GROUP (ORDER BY v, n) FROM o');
SELECT * FROM ordered('SELECT a.id, (SELECT cume_dist(3) WITHIN GROUP (ORDER BY b.id) FROM o b WHERE b.v = a.v) FROM o a WHERE a.id < 100');
SELECT * FROM ordered('SELECT mode() WITHIN GROUP (ORDER BY t USING ~<~) FROM o');
SELECT * FROM ordered('SELECT mode() WITHIN GROUP (ORDER BY c::bpchar) FROM o');
SELECT * FROM ordered('SELECT string_agg(a.t, '','') FROM o a JOIN o b ON a.id = b.id AND a.id < 2');
SELECT * FROM ordered('SELECT g, array_agg(DISTINCT n), array_agg(DISTINCT f) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT string_agg(t::bytea, '','' ORDER BY id) FROM o');
SELECT * FROM ordered('SELECT array_agg(ARRAY[v, g] ORDER BY id) FROM o WHERE id < 9');
SELECT * FROM ordered('SELECT a, count(*) FROM (SELECT g, array_agg(v ORDER BY id) AS a FROM o GROUP BY g) q GROUP BY a');
SELECT * FROM ordered('SELECT jsonb_agg(x ORDER BY g) FROM (SELECT g, json_agg(id ORDER BY id) AS x FROM o GROUP BY g) q');
SELECT * FROM ordered('SELECT jsonb_agg(id ORDER BY id), count(*) FROM o GROUP BY g HAVING jsonb_agg(id ORDER BY id) > ''[3]''');
SELECT * FROM ordered('SELECT string_agg(t, '','' ORDER BY t USING ~<~) FROM o');
SELECT * FROM ordered('SELECT jsonb_agg(DISTINCT ROW(v, t)) FROM o');
SELECT * FROM ordered('SELECT json_agg(y ORDER BY x.id) FROM rows_of x LEFT JOIN rows_of y ON y.id = x.id + 3');
SELECT * FROM ordered('SELECT json_agg(random() + v ORDER BY id) IS NULL FROM o');
SELECT * FROM ordered('SELECT json_agg(q ORDER BY id) FROM (SELECT id, v FROM o ORDER BY v, id LIMIT 9) q');
-- PostgreSQL's functions aggregate what the engine collects: of arrays of any elements, and of all else that has an order inside
CREATE FUNCTION scaled_add(numeric, int) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 3 % 1000003 + coalesce($2, 7)';
CREATE FUNCTION negated(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT -$1';
CREATE AGGREGATE scaled(int) (SFUNC = scaled_add, STYPE = numeric, FINALFUNC = negated, INITCOND = '5');
CREATE FUNCTION joined_add(text, text, text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1 || $3, $1, '''') || coalesce($2, ''?'')';
CREATE AGGREGATE joined(text, text) (SFUNC = joined_add, STYPE = text);
CREATE FUNCTION earlier(anyelement, anyelement) RETURNS anyelement LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1';
CREATE AGGREGATE first_of(anyelement) (SFUNC = earlier, STYPE = anyelement);
CREATE FUNCTION counted_add(int, int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN $1 + $2; END';
CREATE AGGREGATE counted(int) (SFUNC = counted_add, STYPE = int, INITCOND = '0');
SELECT * FROM ordered('SELECT g, scaled(v ORDER BY id), scaled(v ORDER BY t DESC, id) FILTER (WHERE v > 5), scaled(DISTINCT v) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT scaled(v ORDER BY id), scaled(v ORDER BY id) FILTER (WHERE id < 0), joined(t, c ORDER BY id), first_of(n ORDER BY id) FROM o');
SELECT * FROM ordered('SELECT scaled(v ORDER BY id), joined(t, NULL ORDER BY id), array_agg(ARRAY[g, v] ORDER BY id), range_agg(int4range(id, v)) FROM o WHERE id < 0');
SELECT * FROM ordered('SELECT g, v, scaled(id ORDER BY id) FROM o GROUP BY CUBE (g, v)');
SELECT * FROM ordered('SELECT a.id, (SELECT scaled(b.id ORDER BY b.id) FROM o b WHERE b.v = a.v AND b.g < 3) FROM o a WHERE a.id < 300');
SELECT * FROM ordered('SELECT array_agg(kind ORDER BY id), array_agg(DISTINCT address), array_agg(bits ORDER BY id DESC), array_agg((id, kind) ORDER BY id),
  array_agg(ARRAY[id, small] ORDER BY id), xmlagg(xmlelement(name x, named) ORDER BY id)::text FROM wide');
SELECT * FROM ordered('SELECT g, sum(f ORDER BY t, id), min(n ORDER BY id) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT g, range_agg(int4range(id, id + v)), range_intersect_agg(int8range(id, 9999)) FROM o GROUP BY g');
SELECT * FROM ordered('SELECT x.g, range_agg(int4range(x.id, y.id)) FROM o x JOIN o y ON y.id = x.id + x.v GROUP BY 1');
SELECT * FROM ordered('SELECT counted(v ORDER BY id) FROM o');
SELECT * FROM ordered('SELECT scaled(v) FROM o');
SELECT * FROM ordered('SELECT range_agg(numrange(x.n, x.n + 1)) FROM o x JOIN wide y ON y.id = x.id');
-- equal values that are written differently are found while the query runs
SELECT * FROM ordered('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY z) FROM o WHERE g = 1');
SELECT * FROM ordered('SELECT mode() WITHIN GROUP (ORDER BY CASE WHEN v > 5 THEN n ELSE n + 0.00000000000000000000 END) FROM o');
SELECT * FROM ordered('SELECT mode() WITHIN GROUP (ORDER BY CASE WHEN v > 5 THEN interval ''30 days'' ELSE interval ''1 mon'' END) FROM o');
-- errors: for groups that there are
SET penumbra.mode = prefer;
SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY f) FROM o WHERE id < 0;
SELECT g, percentile_disc('NaN') WITHIN GROUP (ORDER BY f) FROM o WHERE id < 0 GROUP BY g;
SELECT g, percentile_disc('NaN') WITHIN GROUP (ORDER BY f) FROM o GROUP BY g;
PREPARE p(float8) AS SELECT g, percentile_cont($1) WITHIN GROUP (ORDER BY f) FROM o WHERE id <= 21 GROUP BY g ORDER BY g;
SET plan_cache_mode = force_generic_plan;
EXECUTE p(0.5);
EXECUTE p(NULL);
EXECUTE p(-1);
EXPLAIN (COSTS OFF) EXECUTE p(0.25);
-- groups that do not fit into memory
SET work_mem = '64kB';
SELECT * FROM ordered('SELECT id % 1000 AS k, percentile_cont(0.5) WITHIN GROUP (ORDER BY f), mode() WITHIN GROUP (ORDER BY t), percentile_disc(ARRAY[0.1, 1]) WITHIN GROUP (ORDER BY t) FROM o GROUP BY 1');
SELECT * FROM ordered('SELECT id % 1000 AS k, string_agg(t, '','' ORDER BY f), array_agg(t ORDER BY f DESC), json_object_agg(n, ROW(t, m) ORDER BY f) FROM o GROUP BY 1');
RESET work_mem;
-- the order of a sorted subquery, whole rows of subqueries, windows of a subquery's rows for each row
SELECT * FROM unnest(ARRAY[
  'SELECT array_agg(id) FROM (SELECT id, v FROM o WHERE g = 3 ORDER BY v DESC NULLS LAST, id) x',
  'SELECT json_agg(x), string_agg(x.t, ''-'') FROM (SELECT id, t, m FROM o ORDER BY m, id DESC LIMIT 4 OFFSET 2) x',
  'SELECT json_agg(x) FROM (SELECT id, t FROM o ORDER BY id LIMIT 5) x WHERE id > 2 HAVING count(*) > 1',
  'SELECT x.g, (SELECT json_agg(y) FROM (SELECT id, t FROM o WHERE o.g = x.g AND v > 40 ORDER BY v, id LIMIT 3) y) FROM (SELECT DISTINCT g FROM o) x',
  'SELECT x.g, (SELECT string_agg(y.t, '','') FROM (SELECT t FROM o WHERE o.g = x.g AND v > 45 ORDER BY v, id) y) FROM (VALUES (1), (3), (9)) x (g)',
  'SELECT x.id, (SELECT max(r) FROM (SELECT rank() OVER (ORDER BY y.v) r FROM o y WHERE y.g = x.g AND y.id < 100) z) FROM o x WHERE id < 20',
  'SELECT json_agg(x ORDER BY x.n, x.g) FROM (SELECT g, count(*) n FROM o GROUP BY 1) x',
  'WITH x AS (SELECT g, max(t) t FROM o GROUP BY 1) SELECT json_agg(x ORDER BY g), count(x) FROM x',
  'SELECT json_agg(y ORDER BY o.id) FROM o LEFT JOIN (SELECT g, count(*) n FROM o WHERE g < 3 GROUP BY 1) y USING (g) WHERE o.id < 10',
  'SELECT g, array_agg(id) FROM (SELECT g, id FROM o WHERE id < 90 ORDER BY g, id DESC) x GROUP BY 1',
  'SELECT array_agg(id) FROM (SELECT id, v FROM o WHERE id < 60 ORDER BY v, id FETCH FIRST 3 ROWS WITH TIES) x']) q, ordered(q);
-- constants in the place of no rows, ARRAY(SELECT ...)
SELECT * FROM unnest(ARRAY[
  'SELECT x.g, (SELECT coalesce(json_agg(y ORDER BY id), ''[]'') FROM (SELECT id, t FROM o WHERE o.g = x.g AND v > 48) y) FROM (SELECT id % 9 AS g FROM o OFFSET 0) x',
  'SELECT x.id, (SELECT coalesce(sum(v), -1) FROM o WHERE o.g = x.id) AS s, (SELECT coalesce(string_agg(t, '','' ORDER BY id), ''none'') FROM o WHERE o.id = 2 * x.id) FROM o x ORDER BY 2, 1',
  'SELECT g, coalesce(array_agg(id ORDER BY id) FILTER (WHERE g > 3 AND id < 90), ''{7}'') FROM o GROUP BY 1',
  'SELECT coalesce(json_agg(id ORDER BY id), ''[]'') FROM o WHERE id < 0',
  'SELECT x.id, ARRAY(SELECT o.id FROM o WHERE o.g = x.id AND v > 47 ORDER BY o.t DESC, o.id LIMIT 4) FROM o x WHERE id < 30',
  'SELECT x.id, ARRAY(SELECT o.t FROM o WHERE o.g = x.id AND v > 47) FROM o x WHERE id < 30',
  'SELECT x.g, ARRAY(SELECT max(t) FROM o WHERE o.g = x.g GROUP BY c ORDER BY c), count(*) FROM o x GROUP BY 1',
  'SELECT x.id FROM o x WHERE id < 30 AND ARRAY(SELECT v FROM o WHERE o.g = x.id AND id < 20 ORDER BY id) = ''{}''',
  'SELECT x.id, cardinality(ARRAY(SELECT v FROM o WHERE o.g = x.id)), ARRAY(SELECT ARRAY[v] FROM o WHERE o.g = x.id AND id < 20 ORDER BY id) FROM o x WHERE id < 30']) q, ordered(q);
DROP FUNCTION ordered;
DROP TABLE o, rows_of, wide;
DROP TYPE kind;
