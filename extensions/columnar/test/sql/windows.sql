-- Window functions in vectors: what runs, what PostgreSQL runs and why, errors, orders, and what they leave to execution.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE win (id int, p int, o int, v int, f float8, r float4, n numeric, t text);
INSERT INTO win SELECT i, i % 7, i % 11, nullif(i % 5, 3) - 1, i / 3.0, i, i % 100 / 4.0, 'text ' || i % 13
  FROM generate_series(1, 5000) i;
VACUUM ANALYZE win;
SELECT penumbra.load('win') > 0 AS loaded;
-- how many windows run in vectors, and in PostgreSQL, why, and whether the answer is PostgreSQL's
CREATE FUNCTION windows(query text, OUT vectors int, OUT postgres int, OUT reason text, OUT are_equal boolean)
LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	expected text;
	found text;
BEGIN
	SET LOCAL penumbra.mode = off;
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s) q', query) INTO expected;
	SET LOCAL penumbra.mode = require;
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s OFFSET 0) q', query) INTO found;
	EXECUTE 'EXPLAIN (COSTS OFF, FORMAT json) ' || query INTO plan;
	are_equal := expected IS NOT DISTINCT FROM found;
	SELECT count(*) INTO vectors FROM regexp_matches(plan::text, '"Vector Window"', 'g');
	SELECT count(*) INTO postgres FROM regexp_matches(plan::text, '"WindowAgg"', 'g');
	reason := plan -> 0 ->> 'Penumbra';
	RESET penumbra.mode;
END $$;
EXPLAIN (COSTS OFF) SELECT id, rank() OVER (PARTITION BY p ORDER BY o DESC NULLS LAST), sum(v) OVER () FROM win WHERE id > 9;
SELECT * FROM windows('SELECT id, row_number() OVER w, lag(v, 2, -1) OVER w, lead(t) OVER w, ntile(3) OVER w
  FROM win WINDOW w AS (PARTITION BY p ORDER BY o, id)');
SELECT * FROM windows('SELECT id, rank() OVER w, dense_rank() OVER w, percent_rank() OVER w, cume_dist() OVER w
  FROM win WINDOW w AS (PARTITION BY p ORDER BY o DESC)');
SELECT * FROM windows('SELECT id, sum(v) OVER w, avg(n) OVER w, min(t) OVER w, count(*) FILTER (WHERE v > 1) OVER w
  FROM win WINDOW w AS (PARTITION BY p ORDER BY o)');
-- frames: windows with the same keys are sorted once
SELECT * FROM windows('SELECT id, sum(f) OVER (w ROWS 3 PRECEDING), max(n) OVER (w ROWS BETWEEN 9 PRECEDING AND 9 FOLLOWING),
  first_value(t) OVER (w ROWS BETWEEN 2 FOLLOWING AND 4 FOLLOWING), avg(v) OVER (w GROUPS UNBOUNDED PRECEDING),
  nth_value(id, 5) OVER (w RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM win WINDOW w AS (PARTITION BY p ORDER BY id)');
-- windows of which one has more partition keys than the other are sorted once, if the order of one begins with the other's
CREATE FUNCTION sorts(query text, OUT sorts int, OUT are_equal boolean) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	are_equal := w.are_equal FROM windows(query) w;
	SET LOCAL penumbra.mode = require;
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
	sorts := count(*) FROM json_array_elements(plan -> 0 -> 'Plan' -> 'Operators') o WHERE o ->> 'Name' = 'Vector Window';
	RESET penumbra.mode;
END $$;
SELECT * FROM sorts('SELECT id, sum(v) OVER (PARTITION BY p), row_number() OVER (PARTITION BY p, o ORDER BY id),
  rank() OVER (PARTITION BY p ORDER BY o, id), dense_rank() OVER (PARTITION BY p ORDER BY o), max(t) OVER (PARTITION BY p, o),
  sum(n) OVER (PARTITION BY p, o ORDER BY id RANGE BETWEEN 100 PRECEDING AND CURRENT ROW) FROM win');
SELECT * FROM sorts('SELECT id, rank() OVER (PARTITION BY t ORDER BY p, o), ntile(3) OVER (PARTITION BY t, p ORDER BY o, id) FROM win');
SELECT * FROM sorts('SELECT id, rank() OVER (PARTITION BY p ORDER BY t), lag(id) OVER (PARTITION BY p, t ORDER BY id) FROM win');
SELECT * FROM sorts('SELECT id, rank() OVER (PARTITION BY p ORDER BY o DESC, id), lag(id) OVER (PARTITION BY p, o ORDER BY id) FROM win');
SELECT * FROM sorts('SELECT id, count(*) OVER (PARTITION BY p ORDER BY o), count(*) OVER (ORDER BY p, o, id) FROM win');
SELECT * FROM sorts('SELECT id, r, rank() OVER (PARTITION BY p ORDER BY r) FROM (SELECT id, p, row_number() OVER (PARTITION BY p ORDER BY id DESC) AS r FROM win) s');
-- windows of several levels, and the result, agree in which of the rows that are equal in their order come first
SELECT * FROM windows('SELECT p, s, count(*), min(o), max(o) FROM (SELECT p, o, sum(g) OVER (PARTITION BY p ORDER BY o ROWS UNBOUNDED PRECEDING) AS s
  FROM (SELECT p, o, CASE WHEN o > lag(o) OVER (PARTITION BY p ORDER BY o) THEN 1 ELSE 0 END AS g FROM win) a WHERE o < 9) b GROUP BY 1, 2');
SELECT * FROM windows('SELECT count(*) FROM (SELECT r, row_number() OVER (PARTITION BY p ORDER BY o DESC) AS s
  FROM (SELECT p, o, row_number() OVER (PARTITION BY p ORDER BY o DESC, v) AS r FROM win) a) b WHERE r <> s');
SELECT * FROM windows('SELECT p, k, count(*), count(*) FILTER (WHERE l IS DISTINCT FROM r - 1) FROM (SELECT p, r, rank() OVER w AS k, lag(r) OVER w AS l
  FROM (SELECT p, o, row_number() OVER (PARTITION BY p ORDER BY o) AS r FROM win) a WINDOW w AS (PARTITION BY p ORDER BY o)) b WHERE k <= 2 GROUP BY 1, 2');
CREATE FUNCTION ascends(query text, first bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n record;
	number bigint := first;
BEGIN
	SET LOCAL penumbra.mode = require;
	FOR n IN EXECUTE query LOOP
		IF n.r <> number THEN
			RETURN format('%s after %s', n.r, number - 1);
		END IF;
		number := number + 1;
	END LOOP;
	RESET penumbra.mode;
	RETURN format('to %s', number - 1);
END $$;
SELECT ascends('SELECT o, row_number() OVER (ORDER BY o) AS r FROM win ORDER BY o', 1),
  ascends('SELECT o, row_number() OVER (ORDER BY o) AS r FROM win ORDER BY o LIMIT 90 OFFSET 400', 401),
  ascends('SELECT o, r FROM (SELECT p, o, v, row_number() OVER (PARTITION BY p ORDER BY o NULLS FIRST, v DESC) AS r FROM win) a WHERE p = 3 AND r > 30 ORDER BY p, o NULLS FIRST', 31);
EXPLAIN (COSTS OFF) SELECT o, lag(v) OVER (ORDER BY o, p) FROM win ORDER BY o LIMIT 9;
DROP FUNCTION ascends;
-- over groups, below groups and joins, in a subquery whose condition PostgreSQL leaves to the window
SELECT * FROM windows('SELECT p, o, sum(v), rank() OVER (PARTITION BY o ORDER BY sum(v)) FROM win GROUP BY p, o');
SELECT * FROM windows('SELECT r, count(*) FROM (SELECT rank() OVER (PARTITION BY p ORDER BY o) AS r FROM win) s GROUP BY r');
SELECT * FROM windows('SELECT a.id, s.r FROM win a JOIN (SELECT id, row_number() OVER (ORDER BY id) AS r FROM win) s USING (id) WHERE a.v = 0');
SELECT * FROM windows('SELECT * FROM (SELECT id, p, row_number() OVER (PARTITION BY p ORDER BY id) AS r FROM win) s WHERE r <= 3');
-- DISTINCT does not compare what only windows partition and order by
SELECT * FROM windows('SELECT DISTINCT p, first_value(t) OVER w, count(*) OVER w FROM win WINDOW w AS (PARTITION BY p ORDER BY o, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)');
SELECT * FROM windows('SELECT DISTINCT p, rank() OVER (PARTITION BY v ORDER BY n + 1, upper(t)) AS r FROM win ORDER BY r DESC, p LIMIT 20');
SELECT * FROM windows('SELECT DISTINCT count(*) % 3 AS c, max(count(*)) OVER (ORDER BY p) FROM win GROUP BY p ORDER BY 2, 1');
SELECT * FROM windows('SELECT DISTINCT row_number() OVER (PARTITION BY id % 7 ORDER BY id) % 5 FROM win UNION ALL SELECT p FROM win WHERE id < 9');
-- DISTINCT ON is the first row of each partition
SELECT * FROM windows('SELECT DISTINCT ON (p, v) v, p, id, 10 / id AS q FROM win ORDER BY p DESC, v NULLS FIRST, o DESC, id');
SELECT * FROM windows('SELECT DISTINCT ON (t) t, n, rank() OVER (PARTITION BY p ORDER BY id) FROM win ORDER BY t, n DESC, id LIMIT 5');
SELECT * FROM windows('SELECT DISTINCT ON (1::int) id FROM win ORDER BY 1::int, o, id DESC');
SET penumbra.mode = auto;
SELECT DISTINCT ON (p) p, 10 / (id - 5000) FROM win ORDER BY p, id;
RESET penumbra.mode;
-- frames that move, of values, of peers, and with holes; whole partitions, which nothing sorts
SELECT * FROM windows('SELECT id, sum(v) OVER w, avg(n) OVER w, max(t) OVER w, stddev(v) OVER w, count(*) FILTER (WHERE v > 0) OVER w
  FROM win WINDOW w AS (ORDER BY id ROWS BETWEEN 2000 PRECEDING AND 3 FOLLOWING)');
SELECT * FROM windows('SELECT id, sum(v) OVER w, min(n) OVER w, last_value(id) OVER w
  FROM win WINDOW w AS (PARTITION BY p ORDER BY id DESC RANGE BETWEEN 10 PRECEDING AND 3 FOLLOWING)');
SELECT * FROM windows('SELECT id, count(*) OVER (ORDER BY n RANGE BETWEEN 1.25 PRECEDING AND 0.5 FOLLOWING),
  sum(v) OVER (ORDER BY f RANGE BETWEEN 3 FOLLOWING AND 9 FOLLOWING),
  sum(v) OVER (ORDER BY date ''2026-01-30'' + p RANGE ''1 month'' PRECEDING) FROM win');
SELECT * FROM windows('SELECT id, sum(v) OVER (PARTITION BY p ORDER BY o GROUPS BETWEEN 1 PRECEDING AND 2 FOLLOWING) FROM win');
SELECT * FROM windows('SELECT id, sum(v) OVER (w RANGE UNBOUNDED PRECEDING EXCLUDE CURRENT ROW), max(t) OVER (w GROUPS 2 PRECEDING EXCLUDE GROUP),
  sum(n) OVER (w RANGE BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES) FROM win WINDOW w AS (PARTITION BY p ORDER BY o)');
SELECT * FROM windows('SELECT id, first_value(id) OVER (w ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING EXCLUDE CURRENT ROW), sum(f) OVER (w ROWS 3 PRECEDING EXCLUDE GROUP),
  nth_value(id, 3) OVER (w ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING EXCLUDE TIES) FROM win WINDOW w AS (PARTITION BY o ORDER BY id)');
SELECT * FROM windows('SELECT id, sum(n) OVER (PARTITION BY t), count(v) OVER (PARTITION BY t), max(t) OVER () FROM win');
SELECT * FROM windows('SELECT count(*) OVER () FROM win WHERE id < 9');
SELECT * FROM windows('SELECT * FROM (SELECT id, t, rank() OVER (PARTITION BY t ORDER BY o DESC) AS r FROM win) s WHERE r = 1');
SELECT * FROM windows('SELECT * FROM (SELECT id, dense_rank() OVER (ORDER BY n) AS r FROM win) s WHERE 3 > r');
-- rows, places and buckets that rows say; buckets begin with the first row that says how many
SELECT * FROM windows('SELECT id, lag(v, o) OVER w, lead(t, v, ''none'') OVER w, lag(n, v - 1, n) OVER w, lead(id, NULL, 7) OVER w,
  nth_value(id, p + 1) OVER (w ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING EXCLUDE CURRENT ROW), nth_value(t, nullif(o, 0)) OVER w
  FROM win WINDOW w AS (PARTITION BY p ORDER BY id)');
SELECT * FROM windows('SELECT id, ntile(length(t)) OVER (PARTITION BY p ORDER BY id), ntile(nullif(v, 0)) OVER (PARTITION BY o ORDER BY t, id),
  ntile(NULL) OVER (ORDER BY id), ntile(nullif(id, 7)) OVER (PARTITION BY p ORDER BY id DESC) FROM win WHERE v IS DISTINCT FROM -1');
SELECT * FROM windows('SELECT id, ntile(o + 1) OVER (ORDER BY id) FROM win');
-- windows of all rows in the order of the table; all of them are peers
SELECT * FROM windows('SELECT id, row_number() OVER (), lag(t, 2, ''none'') OVER (), lead(v, o) OVER (), ntile(7) OVER (), first_value(id) OVER (),
  last_value(id) OVER (), nth_value(id, 3) OVER (ROWS 3 PRECEDING), sum(f) OVER (ROWS UNBOUNDED PRECEDING), count(*) OVER (), sum(v) OVER (ROWS BETWEEN 3 PRECEDING AND 9 FOLLOWING EXCLUDE CURRENT ROW) FROM win WHERE o > 3');
SELECT * FROM windows('SELECT * FROM (SELECT id, row_number() OVER () AS r FROM win WHERE v > 0) s WHERE r <= 10');
SELECT * FROM windows('SELECT id, row_number() OVER () FROM win ORDER BY id DESC LIMIT 9');
SELECT * FROM windows('SELECT row_number() OVER () FROM win');
SELECT * FROM windows('SELECT a.id, s.r FROM win a JOIN (SELECT id, row_number() OVER () AS r FROM win) s USING (id) WHERE a.v = 0');
-- the order of rows that a query shows is PostgreSQL's, or the query is: also where the rows of changed pages come after the others
CREATE FUNCTION row_order(query text, OUT are_equal boolean, OUT engine text, OUT reason text)
LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	answers text[];
	mode text;
	plan json;
BEGIN
	FOREACH mode IN ARRAY ARRAY['off', 'auto', 'prefer', 'require'] LOOP
		PERFORM set_config('penumbra.mode', mode, true);
		BEGIN
			EXECUTE format('SELECT md5(string_agg(q::text, E''\n'' ORDER BY q::text)) FROM (%s OFFSET 0) q', query) INTO answer;
			answers := answers || answer;
		EXCEPTION WHEN feature_not_supported THEN
		END;
		CONTINUE WHEN mode <> 'prefer';
		EXECUTE 'EXPLAIN (COSTS OFF, FORMAT json) ' || query INTO plan;
		engine := (SELECT string_agg(m[1], ', ') FROM regexp_matches(plan::text, '"Custom Plan Provider": "([^"]*)"', 'g') m);
		reason := plan -> 0 ->> 'Penumbra';
	END LOOP;
	are_equal := (SELECT count(DISTINCT a) = 1 FROM unnest(answers) a);
	RESET penumbra.mode;
END $$;
CREATE TABLE late (id int, p int, t text, numbers int[]);
INSERT INTO late SELECT i, i % 5, 'text ' || i % 70, ARRAY[i, 1] FROM generate_series(1, 4000) i;
VACUUM ANALYZE late;
SELECT penumbra.load('late') > 0 AS loaded;
UPDATE late SET t = 'new' WHERE id % 40 = 0;
VACUUM late;
SELECT * FROM row_order('SELECT id, row_number() OVER (), lag(t) OVER (), ntile(7) OVER (), sum(p) OVER (ROWS 3 PRECEDING) FROM late');
SELECT * FROM row_order('SELECT id, row_number() OVER (ORDER BY (SELECT NULL)) FROM late WHERE p > 0');
SELECT * FROM row_order('SELECT id, row_number() OVER (PARTITION BY p) FROM late');
SELECT * FROM row_order('SELECT id, sum(p) OVER (ROWS 3 PRECEDING EXCLUDE TIES) FROM late');
SELECT * FROM row_order('SELECT id, row_number() OVER (), rank() OVER () FROM late');
SELECT * FROM row_order('SELECT id, row_number() OVER (), rank() OVER (ORDER BY p) FROM late');
SELECT * FROM row_order('SELECT id, row_number() OVER () FROM (SELECT id FROM late WHERE p <> 3 OFFSET 0) s');
SELECT * FROM row_order('SELECT id, string_agg(t, '','') OVER (PARTITION BY p) FROM late WHERE id < 99');
SELECT * FROM row_order('SELECT json_object_agg(id, t) FROM late');
SELECT * FROM row_order('SELECT array_agg(numbers) FROM late');
SELECT * FROM row_order('SELECT xmlagg(xmlelement(name x, t)) FROM late');
SELECT * FROM row_order('SELECT id, rank() OVER (PARTITION BY p ORDER BY t) FROM late');
DELETE FROM late WHERE id BETWEEN 900 AND 1100;
VACUUM late;
INSERT INTO late SELECT i + 9000, 4, 'among the others', ARRAY[i] FROM generate_series(1, 150) i;
SELECT * FROM row_order('SELECT id, row_number() OVER (), lag(t) OVER () FROM late');
SELECT * FROM row_order('SELECT id, numbers, row_number() OVER () FROM late');
CREATE INDEX ON late (id);
SELECT * FROM row_order('SELECT id, row_number() OVER () FROM late');
SELECT * FROM row_order('SELECT id, row_number() OVER () FROM late ORDER BY id LIMIT 5');
DROP TABLE late;
-- that of joins and groups nobody promises
SELECT vectors FROM windows('SELECT row_number() OVER () FROM win a JOIN win b USING (id)');
SELECT vectors FROM windows('SELECT row_number() OVER () FROM (SELECT p FROM win GROUP BY p) s');

-- texts and arrays of frames: texts that grow are one, whole partitions have one value
SELECT * FROM windows('SELECT id, string_agg(t, '','') OVER w, string_agg(t, p::text) OVER (w GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING),
  string_agg(nullif(t, ''text 1''), NULL) FILTER (WHERE v > 0) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 3 PRECEDING) FROM win WHERE id < 900 WINDOW w AS (PARTITION BY p ORDER BY id)');
SELECT * FROM windows('SELECT id, array_agg(n) OVER w, array_agg(v) FILTER (WHERE o > 3) OVER w, string_agg(t, ''-'') OVER w
  FROM win WHERE id < 900 WINDOW w AS (PARTITION BY p ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)');
SELECT * FROM windows('SELECT id, array_agg(t) OVER (w ROWS 2 PRECEDING), string_agg(t, ''; '') OVER (w ROWS BETWEEN 90 PRECEDING AND 30 FOLLOWING EXCLUDE CURRENT ROW),
  array_agg(v) OVER (w ROWS BETWEEN 2 FOLLOWING AND 5 FOLLOWING) FROM win WINDOW w AS (PARTITION BY p ORDER BY id)');
SELECT * FROM windows('SELECT id, string_agg(t, '','') OVER (), array_agg(id) OVER () FROM win WHERE id < 400');
SELECT * FROM windows('SELECT id, array_agg(v) OVER (PARTITION BY p ORDER BY o, id), array_agg(t) OVER (PARTITION BY p ORDER BY o) FROM win');
SELECT * FROM windows('SELECT id, array_length(array_agg(n) FILTER (WHERE o <> 2) OVER (ORDER BY id GROUPS BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING), 1) FROM win');
SELECT * FROM windows('SELECT id, string_agg(t, '','') OVER (PARTITION BY length(t), v ORDER BY id) FROM win');
SELECT * FROM windows('SELECT id, array_agg(v) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) FROM win WHERE id < 900');
SELECT * FROM windows('SELECT id, array_agg(v) OVER (ORDER BY id ROWS 128 PRECEDING) FROM win WHERE id < 900');
SELECT * FROM windows('SELECT id, string_agg(t, p::text) OVER (w ROWS BETWEEN 300 PRECEDING AND 7 PRECEDING), string_agg(nullif(t, ''text 1''), '','') FILTER (WHERE v > 0) OVER (w RANGE BETWEEN 40 PRECEDING AND 9 FOLLOWING),
  array_agg(v) OVER (w ROWS BETWEEN 200 PRECEDING AND 3 FOLLOWING), array_agg(t) FILTER (WHERE o > 3) OVER (w GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING),
  array_agg(n) OVER (w ROWS BETWEEN 3 FOLLOWING AND 150 FOLLOWING), array_agg(v) OVER (w RANGE BETWEEN 900 PRECEDING AND 800 PRECEDING) FROM win WHERE id < 1500 WINDOW w AS (PARTITION BY p ORDER BY id)');
SELECT * FROM windows('SELECT id, string_agg(t, '','') OVER (w ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING), string_agg(t, NULL) OVER (w RANGE BETWEEN 2 FOLLOWING AND UNBOUNDED FOLLOWING), array_agg(t) OVER (w ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING),
  array_agg(v) FILTER (WHERE false) OVER (w ROWS 200 PRECEDING) FROM win WINDOW w AS (PARTITION BY id / 4 ORDER BY id)');

-- aggregates that PostgreSQL computes for the engine: of what it does not know, or not over such frames
SELECT * FROM windows('SELECT id, sum(f) OVER (ORDER BY id ROWS BETWEEN 2000 PRECEDING AND CURRENT ROW), avg(n) OVER (ORDER BY id ROWS 9 PRECEDING) FROM win');
SELECT * FROM windows('SELECT id, sum(f) OVER (ORDER BY id RANGE 10 PRECEDING) FROM win');
SELECT * FROM windows('SELECT id, sum(r) OVER (ORDER BY id), sum(v::text::money) OVER (PARTITION BY p ORDER BY id), xmlagg(xmlelement(name x, v)) OVER (PARTITION BY o, p ORDER BY id) FROM win');
SELECT * FROM windows('SELECT id, json_agg(v) OVER w, jsonb_agg(n) FILTER (WHERE o > 3) OVER w, json_object_agg(id, f) OVER w, jsonb_object_agg(t, (v, n)) OVER (w ROWS 3 PRECEDING)
  FROM win WHERE id < 900 WINDOW w AS (PARTITION BY p ORDER BY id)');
SELECT * FROM windows('SELECT id, json_agg((id, t, v)) OVER (w ROWS BETWEEN 2 FOLLOWING AND 4 FOLLOWING), jsonb_agg(json_build_object(''a'', t, ''b'', ARRAY[v, o])) OVER (w ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW)
  FROM win WHERE id < 900 WINDOW w AS (PARTITION BY p ORDER BY id)');
SELECT * FROM windows('SELECT s.id, s.j, s.j ->> 1, lag(id) OVER (ORDER BY id DESC) FROM (SELECT id, jsonb_agg(v) OVER (PARTITION BY p ORDER BY id) AS j FROM win WHERE id < 700) s ORDER BY s.id DESC LIMIT 90');
SET penumbra.mode = auto;
SELECT s.j, count(*) FROM (SELECT jsonb_agg(v) OVER (PARTITION BY p ORDER BY id ROWS 1 PRECEDING) AS j FROM win WHERE p < 2) s GROUP BY 1 ORDER BY 1 LIMIT 3;
RESET penumbra.mode;
SELECT * FROM windows('SELECT * FROM (SELECT id, row_number() OVER w AS r, json_agg(t) OVER w FROM win WINDOW w AS (PARTITION BY p ORDER BY id)) s WHERE r <= 3');
CREATE FUNCTION longer(text, text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT CASE WHEN length($2) > length($1) THEN $2 ELSE $1 END $$;
CREATE AGGREGATE longest(text) (SFUNC = longer, STYPE = text, INITCOND = '');
CREATE FUNCTION keep(int, int) RETURNS int STRICT IMMUTABLE LANGUAGE sql AS $$ SELECT $1 $$;
CREATE AGGREGATE first_known(int) (SFUNC = keep, STYPE = int);
CREATE FUNCTION add_square(numeric[], numeric) RETURNS numeric[] IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN ARRAY[$1[1] + 1, $1[2] + coalesce($2 * $2, 0)]; END $$;
CREATE FUNCTION mean_square(numeric[], numeric) RETURNS numeric IMMUTABLE LANGUAGE sql AS $$ SELECT $1[2] / nullif($1[1], 0) $$;
CREATE AGGREGATE mean_of_squares(numeric) (SFUNC = add_square, STYPE = numeric[], FINALFUNC = mean_square, FINALFUNC_EXTRA, INITCOND = '{0,0}');
CREATE AGGREGATE counts(numeric) (SFUNC = add_square, STYPE = numeric[], INITCOND = '{0,0}');
CREATE FUNCTION pair(anyelement, anyelement) RETURNS anyelement IMMUTABLE LANGUAGE sql AS $$ SELECT coalesce($2, $1) $$;
CREATE AGGREGATE last_known(anyelement) (SFUNC = pair, STYPE = anyelement);
SELECT * FROM windows('SELECT id, longest(t) OVER w, first_known(v) OVER w, mean_of_squares(n) OVER w, counts(n) FILTER (WHERE v > 0) OVER w, last_known(v) OVER w, last_known(t) OVER w, sum(v) OVER w
  FROM win WHERE id < 2000 WINDOW w AS (PARTITION BY p ORDER BY id)');
SELECT * FROM windows('SELECT id, longest(t) OVER w, first_known(v) OVER w, mean_of_squares(n) OVER w, last_known(v) OVER (ORDER BY id GROUPS BETWEEN CURRENT ROW AND 2 FOLLOWING EXCLUDE CURRENT ROW)
  FROM win WHERE id < 2000 WINDOW w AS (PARTITION BY p ORDER BY id ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING)');
SELECT * FROM windows('SELECT s.a, count(*), max(s.b) FROM (SELECT id, first_known(v) OVER (PARTITION BY p, t ORDER BY id) AS a, longest(t) OVER (PARTITION BY p ORDER BY id) AS b FROM win) s GROUP BY s.a');
SELECT * FROM windows('SELECT * FROM (SELECT id, row_number() OVER w AS r, first_known(v) OVER w FROM win WINDOW w AS (PARTITION BY p ORDER BY id)) s WHERE r <= 3');
CREATE AGGREGATE moved(numeric) (SFUNC = numeric_add, STYPE = numeric, MSFUNC = numeric_add, MINVFUNC = numeric_sub, MSTYPE = numeric);
-- over frames that move by the aggregates' functions for these, which tell how they were called and at times cannot lose a row
CREATE FUNCTION logged_add(text, anyelement) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT coalesce($1, 'none') || '*' || quote_nullable($2) $$;
CREATE FUNCTION logged_move(text, anyelement) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT right(coalesce($1, 'none') || '+' || quote_nullable($2), 90) $$;
CREATE FUNCTION logged_lose(text, anyelement) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT right($1 || '-' || quote_nullable($2), 90) $$;
CREATE FUNCTION logged_refuse(text, anyelement) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT CASE WHEN $2::text LIKE '%3' THEN NULL ELSE right($1 || '-' || quote_nullable($2), 90) END $$;
CREATE FUNCTION logged_never(text, anyelement) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT NULL::text $$;
CREATE FUNCTION strict_move(text, text) RETURNS text STRICT IMMUTABLE LANGUAGE sql AS $$ SELECT right($1 || '+' || quote_nullable($2), 90) $$;
CREATE FUNCTION strict_lose(text, text) RETURNS text STRICT IMMUTABLE LANGUAGE sql AS $$ SELECT right($1 || '-' || quote_nullable($2), 90) $$;
CREATE FUNCTION shown(text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT '<' || $1 || '>' $$;
CREATE AGGREGATE logged(anyelement) (SFUNC = logged_add, STYPE = text, MSFUNC = logged_move, MINVFUNC = logged_lose, MSTYPE = text, INITCOND = 'plain', MINITCOND = 'moving', MFINALFUNC = shown);
CREATE AGGREGATE refusing(anyelement) (SFUNC = logged_add, STYPE = text, MSFUNC = logged_move, MINVFUNC = logged_refuse, MSTYPE = text);
CREATE AGGREGATE never_losing(anyelement) (SFUNC = logged_add, STYPE = text, MSFUNC = logged_move, MINVFUNC = logged_never, MSTYPE = text);
CREATE AGGREGATE strictly(text) (SFUNC = strict_move, STYPE = text, MSFUNC = strict_move, MINVFUNC = strict_lose, MSTYPE = text);
CREATE AGGREGATE inexact(float8) (SFUNC = float8pl, STYPE = float8, MSFUNC = float8pl, MINVFUNC = float8mi, MSTYPE = float8);
CREATE FUNCTION moved_to_null(int, int) RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT CASE WHEN $2 < 1000 THEN coalesce($1, 0) + $2 END $$;
CREATE FUNCTION moved_back(int, int) RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT $1 - $2 $$;
CREATE AGGREGATE failing(int) (SFUNC = int4pl, STYPE = int, MSFUNC = moved_to_null, MINVFUNC = moved_back, MSTYPE = int);
SELECT r.* FROM unnest(ARRAY[
  'ORDER BY id ROWS 3 PRECEDING', 'PARTITION BY p ORDER BY id ROWS BETWEEN 2 PRECEDING AND 4 FOLLOWING', 'PARTITION BY p ORDER BY id ROWS BETWEEN 9 PRECEDING AND 2 PRECEDING',
  'PARTITION BY p ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 5 FOLLOWING', 'PARTITION BY p ORDER BY id RANGE BETWEEN 70 PRECEDING AND 30 FOLLOWING',
  'PARTITION BY p ORDER BY o, id GROUPS BETWEEN 2 PRECEDING AND CURRENT ROW', 'PARTITION BY p ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
  'PARTITION BY p ORDER BY id', 'PARTITION BY p ORDER BY id ROWS 3 PRECEDING EXCLUDE CURRENT ROW', 'ORDER BY id ROWS 900 PRECEDING']) w,
  windows(format('SELECT id, logged(v) OVER w, refusing(id) OVER w, never_losing(t) OVER w, strictly(v::text) OVER w, inexact(f) OVER w,
  logged(v) FILTER (WHERE o > 3) OVER w, strictly(t) FILTER (WHERE v > 2) OVER w, moved(n) OVER w FROM win WHERE id < 1200 WINDOW w AS (%s)', w)) r;
SELECT * FROM windows('SELECT id, failing(id) OVER (ORDER BY id ROWS 3 PRECEDING) FROM win WHERE id < 900');
SET penumbra.mode = prefer;
SELECT failing(id) OVER (ORDER BY id ROWS 3 PRECEDING) FROM win;
RESET penumbra.mode;
SET penumbra.threads_per_query = 2;
SET work_mem = '64kB';
SELECT * FROM windows('SELECT id, logged(v) OVER w, refusing(id) OVER w, inexact(f) OVER w, ntile(3) OVER w FROM win WINDOW w AS (PARTITION BY id / 9 ORDER BY n, id ROWS 4 PRECEDING)');
SELECT * FROM windows('SELECT id, json_agg(id) OVER (PARTITION BY id / 9 ORDER BY n, id), longest(t) OVER (PARTITION BY id / 9 ORDER BY n, id ROWS 4 PRECEDING), ntile(3) OVER (PARTITION BY id / 9 ORDER BY n, id), sum(v) OVER (PARTITION BY p) FROM win');
RESET work_mem;
SET penumbra.threads_per_query = 0;
-- values of megabytes: batches get shorter, also where another function counts groups
SELECT * FROM windows('SELECT id, octet_length((json_agg(repeat(t, 2000)) OVER w)::text), count(*) OVER (ORDER BY id GROUPS BETWEEN 3 PRECEDING AND 2 PRECEDING), octet_length(string_agg(t, '','') OVER w)
  FROM win WHERE id < 400 WINDOW w AS (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)');

-- what is PostgreSQL's: the engine sorts for it
CREATE FUNCTION roll(int, int) RETURNS int VOLATILE LANGUAGE sql AS $$ SELECT $1 + $2 $$;
CREATE AGGREGATE rolled(int) (SFUNC = roll, STYPE = int, INITCOND = '0');
SELECT * FROM windows('SELECT id, rolled(v) OVER (ORDER BY id) FROM win');
SELECT * FROM windows('SELECT id, mean_of_squares(v) OVER (PARTITION BY p) FROM win');
SELECT * FROM windows('SELECT id, lag(v, 10 / o) OVER (ORDER BY id) FROM win WHERE o <> 0');
SELECT * FROM windows('SELECT * FROM (SELECT id, row_number() OVER w AS r, nth_value(id, o) OVER w FROM win WINDOW w AS (ORDER BY id)) s WHERE r <= 9');
SELECT * FROM windows('SELECT id, lag(id / v, 1) OVER (ORDER BY id) FROM win WHERE v <> 0');
-- errors: of the offset, of what is summed; of a default that nobody needs there is none
SET penumbra.mode = auto;
SELECT sum(v) OVER (ORDER BY id ROWS -1 PRECEDING) FROM win;
SELECT count(s) FROM (SELECT nth_value(v, o) OVER (ORDER BY id) AS s FROM win) s;
SELECT count(s) FROM (SELECT nth_value(v, -1) OVER (ORDER BY id) AS s FROM win) s;
SELECT count(s) FROM (SELECT ntile(o) OVER (ORDER BY id) AS s FROM win) s;
SELECT count(s) FROM (SELECT ntile(v) OVER (PARTITION BY p ORDER BY id) AS s FROM win WHERE id < 0) s;
DO $$
BEGIN
	PERFORM max(octet_length(s)) FROM (SELECT string_agg(t, repeat('-', 1000000)) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS s FROM win) s;
EXCEPTION WHEN program_limit_exceeded THEN  -- its text depends on the version
	RAISE WARNING '%', SQLSTATE;
END $$;
DO $$
BEGIN
	PERFORM max(octet_length(s)) FROM (SELECT string_agg(t, repeat('-', 1000000)) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 1100 FOLLOWING) AS s FROM win) s;
EXCEPTION WHEN program_limit_exceeded THEN
	RAISE WARNING '%', SQLSTATE;
END $$;
DO $$
BEGIN
	PERFORM count(s) FROM (SELECT json_object_agg(v, t) OVER (ORDER BY id) AS s FROM win) s;
EXCEPTION WHEN invalid_parameter_value OR null_value_not_allowed THEN  -- by the version
	RAISE WARNING 'a key is NULL';
END $$;
CREATE FUNCTION divided(int, int) RETURNS int STRICT IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN 100 / ($2 - 1999); END $$;
CREATE AGGREGATE dividing(int) (SFUNC = divided, STYPE = int, INITCOND = '0');
DO $$
BEGIN
	PERFORM count(s) FROM (SELECT dividing(id) OVER (ORDER BY id) AS s FROM win) s;
EXCEPTION WHEN division_by_zero THEN  -- its context depends on the version
	RAISE WARNING '%', SQLSTATE;
END $$;
SELECT count(s) FROM (SELECT row_number() OVER w AS r, dividing(id) OVER w AS s FROM win WINDOW w AS (ORDER BY id)) s WHERE r < 1990;
SELECT count(s) FROM (SELECT dividing(id) OVER (ORDER BY id) AS s FROM win LIMIT 1998) s;
SELECT count(s) FROM (SELECT dividing(id) FILTER (WHERE id <> 1999) OVER (ORDER BY id) AS s FROM win) s;
SELECT max(s) FROM (SELECT sum(10 / v) OVER (ORDER BY id) AS s FROM win) s;
SELECT count(s) FROM (SELECT lag(v, 1, 10 / (id - 2)) OVER (ORDER BY id) AS s FROM win) s;
-- the order of the rows saves a sort; not where partitions of text come in another one
EXPLAIN (COSTS OFF) SELECT p, o, rank() OVER (PARTITION BY p ORDER BY o) FROM win ORDER BY p, o;
SELECT every(p >= last) FROM (SELECT p, lag(p, 1, p) OVER () AS last FROM
  (SELECT p, rank() OVER (PARTITION BY p ORDER BY o) FROM win ORDER BY p, o OFFSET 0) s) s;
EXPLAIN (COSTS OFF) SELECT t, o, rank() OVER (PARTITION BY t ORDER BY o) FROM win ORDER BY t, o;
-- what nodes above show of them
SET penumbra.mode = require;
EXPLAIN (VERBOSE, COSTS OFF) SELECT o, rank() OVER (ORDER BY o), count(*) FILTER (WHERE v > 0) OVER () FROM win LIMIT 3;
SET penumbra.mode = auto;
-- cursors, prepared statements, rescans, little memory
BEGIN;
DECLARE c CURSOR FOR SELECT id, row_number() OVER (ORDER BY id DESC) FROM win;
FETCH 2 FROM c;
MOVE 4996 FROM c;
FETCH ALL FROM c;
COMMIT;
PREPARE q(int) AS SELECT max(s) FROM (SELECT sum(v) OVER (PARTITION BY p ORDER BY id) AS s FROM win WHERE id > $1) s;
SET plan_cache_mode = force_generic_plan;
EXECUTE q(100);
EXECUTE q(4000);
EXECUTE q(NULL);
-- offsets of frames that are known when the node starts, and errors of them even without a row
CREATE FUNCTION offsets(types text, query text, VARIADIC arguments text[]) RETURNS TABLE (vectors bool, answer text, are_equal bool)
LANGUAGE plpgsql AS $$
DECLARE
	argument text;
	plan json;
	stock text;
BEGIN
	PERFORM set_config('penumbra.mode', 'off', true);
	EXECUTE format('PREPARE stock%s AS SELECT md5(string_agg(q::text, E''\n'' ORDER BY q::text)) FROM (%s OFFSET 0) q', types, query);
	EXECUTE format('EXECUTE stock(%s)', arguments[1]) INTO stock;
	PERFORM set_config('penumbra.mode', 'auto', true);
	EXECUTE format('PREPARE ours%s AS SELECT md5(string_agg(q::text, E''\n'' ORDER BY q::text)) FROM (%s OFFSET 0) q', types, query);
	FOREACH argument IN ARRAY arguments LOOP
		BEGIN
			EXECUTE format('EXECUTE stock(%s)', argument) INTO stock;
		EXCEPTION WHEN data_exception THEN
			stock := SQLSTATE || ' ' || SQLERRM;
		END;
		BEGIN
			EXECUTE format('EXPLAIN (COSTS OFF, FORMAT json) EXECUTE ours(%s)', argument) INTO plan;
			vectors := plan::text LIKE '%"Vector Window"%';
			EXECUTE format('EXECUTE ours(%s)', argument) INTO answer;
		EXCEPTION WHEN data_exception THEN
			answer := SQLSTATE || ' ' || SQLERRM;
		END;
		are_equal := answer IS NOT DISTINCT FROM stock;
		answer := CASE WHEN answer ~ '^22... ' THEN answer ELSE 'rows' END;
		RETURN NEXT;
	END LOOP;
	DEALLOCATE stock;
	DEALLOCATE ours;
	RESET penumbra.mode;
END $$;
SELECT * FROM offsets('(bigint)', 'SELECT id, sum(v) OVER (PARTITION BY p ORDER BY id ROWS BETWEEN $1 PRECEDING AND $1 + 1 FOLLOWING) FROM win', '0', '40', '9223372036854775806', '-1', 'NULL');
SELECT * FROM offsets('(bigint)', 'SELECT id, sum(f) OVER (ORDER BY id ROWS BETWEEN $1 PRECEDING AND CURRENT ROW) FROM win', '3', '2000', '-3');
SELECT * FROM offsets('(bigint)', 'SELECT id, max(v) OVER (PARTITION BY p ORDER BY o GROUPS BETWEEN CURRENT ROW AND $1 FOLLOWING EXCLUDE TIES) FROM win', '2', '-2', 'NULL');
SELECT * FROM offsets('(int)', 'SELECT id, sum(v) OVER (ORDER BY id DESC RANGE $1 PRECEDING) FROM win', '7', '-7', 'NULL');
SELECT * FROM offsets('(numeric)', 'SELECT id, count(*) OVER (ORDER BY n RANGE BETWEEN $1 PRECEDING AND $1 * 2 FOLLOWING) FROM win', '1.25', '''NaN''', '-1');
SELECT * FROM offsets('(interval)', 'SELECT id, count(*) OVER (ORDER BY date ''2026-01-30'' + o RANGE $1 PRECEDING) FROM win', '''1 month''', '''-1 day''', 'NULL');
SELECT * FROM offsets('(float8)', 'SELECT id, max(v) OVER (ORDER BY f RANGE BETWEEN $1 FOLLOWING AND UNBOUNDED FOLLOWING) FROM win', '9.5', '''Infinity''', '''NaN''', '-0.1');
SELECT * FROM offsets('(bigint)', 'SELECT id, sum(v) OVER (ORDER BY id ROWS $1 PRECEDING) FROM win WHERE id < 0', '3', '-1', 'NULL');
SELECT * FROM offsets('(bigint)', 'SELECT id, sum(v) OVER (ORDER BY id ROWS 10 / $1 PRECEDING) FROM win', '5', '0');
SELECT * FROM offsets('(int)', 'SELECT id, lag(v, $1) OVER w, ntile($1) OVER w, nth_value(v, $1) OVER w FROM win WINDOW w AS (PARTITION BY p ORDER BY id)', '5', 'NULL', '-1');
SELECT * FROM offsets('(int)', 'SELECT x, (SELECT sum(s) FROM (SELECT sum(v) OVER (ORDER BY id ROWS x PRECEDING) AS s FROM win WHERE p = $1) s) FROM generate_series(0, 2) x', '5');
RESET plan_cache_mode;
SELECT x, (SELECT max(r) FROM (SELECT rank() OVER (ORDER BY o) AS r FROM win WHERE p = x) s) FROM generate_series(0, 2) x;
-- IGNORE NULLS of PostgreSQL 19 runs in vectors
CREATE FUNCTION ignores_nulls() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	query text := 'SELECT md5(string_agg(q::text, '','' ORDER BY id)) FROM (SELECT id, lag(v) IGNORE NULLS OVER w, lead(v, 2, 9) IGNORE NULLS OVER w,
		first_value(v) IGNORE NULLS OVER w, last_value(v) IGNORE NULLS OVER w, nth_value(v, 2) RESPECT NULLS OVER w,
		nth_value(v, 3) IGNORE NULLS OVER (w ROWS BETWEEN 4 PRECEDING AND 4 FOLLOWING EXCLUDE CURRENT ROW), lag(v, 0) IGNORE NULLS OVER w,
		lead(v, v - 1, -9) IGNORE NULLS OVER w, last_value(v) IGNORE NULLS OVER (w ROWS 3 PRECEDING EXCLUDE TIES)
		FROM win WINDOW w AS (PARTITION BY p ORDER BY id)) q';
	answer text;
	answers text[];
	mode text;
BEGIN
	IF current_setting('server_version_num')::int < 190000 THEN
		RETURN true;
	END IF;
	FOREACH mode IN ARRAY ARRAY['off', 'auto', 'prefer', 'require'] LOOP
		PERFORM set_config('penumbra.mode', mode, true);
		EXECUTE query INTO answer;
		answers := answers || answer;
	END LOOP;
	RETURN (SELECT count(DISTINCT a) = 1 FROM unnest(answers) a) AND (SELECT vectors > 0 AND postgres = 0 FROM windows(query));
END $$;
SELECT ignores_nulls();
SET work_mem = '64kB';
SELECT * FROM windows('SELECT id, sum(n) OVER (PARTITION BY p ORDER BY id), lag(t) OVER (PARTITION BY v ORDER BY id) FROM win');
RESET work_mem;
-- whole partitions, whose totals a row meets in a join where its key cannot be NULL: the rows are read twice
CREATE TABLE shares (id int NOT NULL, p int NOT NULL, q bigint NOT NULL, t varchar NOT NULL, k int, n numeric NOT NULL);
INSERT INTO shares SELECT i, i % 7, i % 40, 'text ' || i % 13, nullif(i % 9, 0), i % 100 / 4.0 FROM generate_series(1, 9000) i;
VACUUM ANALYZE shares;
SELECT penumbra.load('shares') > 0 AS loaded;
EXPLAIN (COSTS OFF) SELECT id, sum(n) OVER (PARTITION BY p) FROM shares WHERE id > 9;
SELECT * FROM windows('SELECT id, n, sum(n) OVER (), count(*) OVER (), max(t) OVER (PARTITION BY p) FROM shares');
SELECT * FROM windows('SELECT id, sum(k) FILTER (WHERE id % 3 = 0) OVER w, avg(n) OVER w, count(k) OVER w FROM shares WHERE q > 3 WINDOW w AS (PARTITION BY t, p, q)');
SELECT * FROM windows('SELECT id, sum(n) OVER (PARTITION BY p ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS s,
  rank() OVER (PARTITION BY p ORDER BY id) AS r FROM shares ORDER BY s, r LIMIT 20');
SELECT * FROM windows('SELECT p, count(*) FROM (SELECT p, n, avg(n) OVER (PARTITION BY p) AS a, min(n) OVER (PARTITION BY p, q) AS m FROM shares) s WHERE n > a AND n > m GROUP BY p');
SELECT * FROM windows('SELECT id, sum(n) OVER (PARTITION BY p), sum(n) OVER (PARTITION BY t) FROM shares WHERE id < 0');
-- NULL is a partition; keys that are computed, or written in several ways; frames with holes; values that depend on the order
SELECT * FROM windows('SELECT id, sum(n) OVER (PARTITION BY k), count(*) OVER (PARTITION BY n), sum(id) OVER (PARTITION BY p + 1),
  sum(id) OVER (PARTITION BY q RANGE UNBOUNDED PRECEDING EXCLUDE CURRENT ROW), count(*) OVER (PARTITION BY 1 + 1) FROM shares');
SELECT * FROM windows('SELECT s.id, sum(s.n) OVER (PARTITION BY r.p) FROM shares s LEFT JOIN (SELECT * FROM shares WHERE id < 99) r ON r.id = s.id');
ALTER TABLE shares ALTER q DROP NOT NULL, ALTER t DROP NOT NULL;
UPDATE shares SET q = nullif(q, 3), t = nullif(t, 'text 5');
VACUUM ANALYZE shares;
SELECT penumbra.load('shares') > 0 AS loaded;
EXPLAIN (COSTS OFF) SELECT id, sum(n) OVER (PARTITION BY t, p) FROM shares;
SELECT * FROM windows('SELECT id, sum(n) OVER (PARTITION BY t), count(*) OVER (PARTITION BY q), max(id) OVER (PARTITION BY q, k, t), min(n) OVER (PARTITION BY p, t) FROM shares');
SELECT * FROM windows('SELECT id, count(*) OVER (PARTITION BY n / 2), sum(id) OVER (PARTITION BY t || p), count(*) OVER (PARTITION BY n > 3) FROM shares');
-- errors of the totals' arguments are for rows that pass
SELECT id, sum(10 / (id - 5)) OVER (PARTITION BY p) FROM shares WHERE id <> 5 ORDER BY id LIMIT 1;
SELECT id, sum(10 / (id - 5)) OVER (PARTITION BY p) FROM shares ORDER BY id LIMIT 1;
-- changed since it was loaded
UPDATE shares SET p = 3 WHERE id % 10 = 0;
INSERT INTO shares VALUES (9001, 77, 1, 'new', NULL, 1);
SELECT * FROM windows('SELECT id, sum(n) OVER (PARTITION BY p), count(*) OVER () FROM shares');
DROP TABLE shares;
-- rows of the heap, and none
INSERT INTO win VALUES (6000, 3, NULL, NULL, 'NaN', 0, 'NaN', 'new');
DELETE FROM win WHERE id % 50 = 0;
SELECT * FROM windows('SELECT id, sum(n) OVER w, rank() OVER w, lead(v) OVER w FROM win WINDOW w AS (PARTITION BY p ORDER BY o, id)');
SELECT * FROM windows('SELECT id, sum(n) OVER (ORDER BY id), rank() OVER (ORDER BY id) FROM win WHERE id < 0');
UPDATE win SET o = o + 1 WHERE id % 9 = 0;
SELECT * FROM windows('SELECT id, o, row_number() OVER (), lag(t) OVER () FROM win');
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT id, row_number() OVER () FROM win WHERE o > 3;
RESET penumbra.mode;
DROP TABLE win;
