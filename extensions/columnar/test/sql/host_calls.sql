-- Expressions of which the engine has the inputs, but not the function: PostgreSQL evaluates them while it runs.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 2;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE visit (id int, url text, day date, at timestamp, at_tz timestamptz, price numeric(8, 2), score float8, code uuid, tiny smallint);
INSERT INTO visit SELECT i, CASE WHEN i % 97 > 0 THEN 'https://host' || i % 13 || '.example.org/a/long/path/' || i % 7 END, date '2023-11-20' + i % 61,
	timestamp '2023-11-20' + i * interval '97 seconds', timestamptz '2023-11-20 UTC' + i * interval '97 seconds', i % 977 / 4.0, i % 33 / 8.0,
	('00000000-0000-0000-0000-0000000000' || lpad(to_hex(i % 200), 2, '0'))::uuid, NULLIF(i % 11, 5)
FROM generate_series(1, 70000) i;
VACUUM ANALYZE visit;
SELECT penumbra.load('visit') > 0 AS loaded;
\set VERBOSITY terse
\getenv directory PG_ABS_SRCDIR
\set explained :directory '/explained.sql'
\i :explained
-- keys of groups, with NULL among the inputs and the results
SELECT * FROM compared('SELECT to_char(day, ''YYYY-MM''), count(*), sum(price) FROM visit GROUP BY 1');
SELECT * FROM compared('SELECT quote_ident(split_part(url, ''/'', 3)), count(*) FROM visit GROUP BY 1');
SELECT * FROM compared('SELECT regexp_replace(url, ''^https?://(?!ftp)(www\.)?([^/]*)/.*'', ''\2''), count(*), min(price) FROM visit GROUP BY 1');
SELECT * FROM compared('SELECT to_hex(hashtext(url)), to_char(day, ''Day''), sum(score) FROM visit GROUP BY 1, 2');
SELECT * FROM compared('SELECT nullif(substring(url FROM ''host(?!99)(\d)''), ''5''), count(*) FROM visit GROUP BY 1');
SELECT * FROM compared('SELECT (string_to_array(url, ''.''))[1], count(*) FROM visit GROUP BY 1');
SELECT * FROM compared('SELECT quote_nullable(url), quote_nullable(tiny), count(*) FROM visit GROUP BY 1, 2');
SELECT * FROM compared('SELECT div((score * 8)::numeric, 3), count(*) FROM visit GROUP BY 1');
SELECT * FROM compared('SELECT make_timestamp(2024, tiny + 1, 1, 0, 0, 0), count(*) FROM visit GROUP BY 1');
SELECT * FROM compared('SELECT to_char(tiny, ''RN''), sqrt(tiny::numeric), uuid_send(code) IS NULL, count(*) FROM visit GROUP BY 1, 2, 3');
SELECT * FROM compared('SELECT day - interval ''1 month'' * tiny, count(*) FROM visit GROUP BY 1');
SELECT * FROM compared('SELECT to_hex(hashtext(CASE WHEN to_hex(hashtext(url)) > ''8'' THEN url WHEN tiny = 3 THEN to_hex(hashtext(url)) ELSE ''none'' END)), count(*) FROM visit GROUP BY 1');
-- conditions: their order decides what is evaluated
SELECT * FROM compared('SELECT count(*) FROM visit WHERE url ~ ''(t)\1ps://host1[0-2]\.''');
SELECT * FROM compared('SELECT count(*) FROM visit WHERE url ~* ''(T)\1PS://HOST3'' AND to_char(day, ''DY'') IN (''MON'', ''SUN'')');
SELECT * FROM compared('SELECT count(*) FROM visit WHERE CASE WHEN tiny > 0 THEN width_bucket(score, 0, tiny, 3) END = 2', 'prefer');
SELECT * FROM compared('SELECT count(*) FROM visit WHERE tiny > 0 AND log(tiny::numeric * 1.5, 10) > 2');
SELECT * FROM compared('SELECT id, url FROM visit WHERE reverse(url) LIKE ''6%'' ORDER BY id DESC LIMIT 5');
SELECT * FROM compared('SELECT count(*) FROM visit a JOIN visit b ON a.id = b.id AND to_hex(hashtext(a.url)) < to_hex(hashtext(b.url || ''x''))', 'prefer');
SELECT * FROM compared('SELECT day, count(*) FROM visit GROUP BY day HAVING to_char(sum(price), ''FM999999.00L'') LIKE ''%5.00 ''');
SELECT * FROM compared('SELECT url, sum(price) FROM visit GROUP BY url HAVING to_hex(hashtext(url)) < ''8''');
-- arguments of aggregates, orders, windows, DISTINCT
SELECT * FROM compared('SELECT tiny, max(to_char(day, ''YYYY-MM-DD'')), count(DISTINCT to_hex(hashtext(url))), sum(length(to_hex(hashtext(url)))) FROM visit GROUP BY tiny');
SELECT * FROM compared('SELECT tiny, max(quote_literal(url)), max(quote_ident(url)), max(reverse(url)), max(quote_literal(url)) FROM visit GROUP BY tiny');
SELECT * FROM compared('SELECT count(*) FILTER (WHERE code::text ~ ''(0)\1\1a''), count(*) FILTER (WHERE code::text ~ ''(0)\1\1b''), count(*) FILTER (WHERE reverse(url) LIKE ''6%''), count(*) FILTER (WHERE quote_ident(url) LIKE ''6%'') FROM visit');
SELECT * FROM compared('SELECT DISTINCT to_char(day, ''Mon'') FROM visit');
SELECT * FROM compared('SELECT id, to_hex(hashtext(url)) FROM visit ORDER BY to_hex(hashtext(url)), id LIMIT 7');
SELECT * FROM compared('SELECT id, rank() OVER (PARTITION BY to_char(day, ''YYYYMM'') ORDER BY id) FROM visit WHERE id % 500 = 0');
SELECT * FROM compared('SELECT to_char(day, ''YYYY''), to_char(day, ''Mon''), sum(price) FROM visit GROUP BY ROLLUP (1, 2)');
-- instants: what the format shows no more of is not told apart
SELECT * FROM compared('SELECT to_char(at, ''YYYY-MM''), count(*) FROM visit GROUP BY 1');
SELECT * FROM compared('SELECT to_char(at_tz, ''IYYY-IW Day DD "and" Q J''), count(*) FROM visit GROUP BY 1');
SELECT * FROM compared('SELECT to_char(at, ''FMDD.MM. HH24 h''), count(*) FROM visit GROUP BY 1');
SELECT * FROM compared('SELECT to_char(at, ''MI''), count(*) FROM visit GROUP BY 1', 'prefer');
SET timezone = 'America/St_Johns';
SELECT * FROM compared('SELECT to_char(at_tz, ''YYYY-MM-DD''), to_char(at_tz, ''HH12 AM''), count(*) FROM visit GROUP BY 1, 2');
SET timezone = 'Australia/Lord_Howe';
SELECT * FROM compared('SELECT to_char(at_tz, ''YYYY-MM-DD HH24''), count(*) FROM visit GROUP BY 1', 'prefer');
SELECT * FROM compared('SELECT to_char(at_tz, ''DD TZ''), count(*) FROM visit GROUP BY 1', 'prefer');
RESET timezone;
-- left as it is: hardly any input comes twice, the function is volatile, the column is not cached
SELECT * FROM compared('SELECT to_hex(hashtext(id::text || url)), count(*) FROM visit GROUP BY 1 HAVING count(*) > 1');
SELECT * FROM compared('SELECT tiny + random() * 0, count(*) FROM visit GROUP BY 1', 'prefer');
-- functions of the user's, with settings and queries of their own; stable ones see the statement's snapshot
CREATE TABLE region (tiny smallint, name text);
INSERT INTO region SELECT i, 'region ' || i % 3 FROM generate_series(0, 10) i;
CREATE FUNCTION region_of(number smallint) RETURNS text STABLE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT name FROM region WHERE tiny = number); END';
CREATE FUNCTION inverse(number smallint) RETURNS numeric IMMUTABLE STRICT LANGUAGE plpgsql AS 'BEGIN RETURN 1.0 / number; END';
SELECT * FROM compared('SELECT region_of(tiny), count(*) FROM visit GROUP BY 1');
SELECT * FROM compared('SELECT inverse(tiny), count(*) FROM visit WHERE tiny <> 0 GROUP BY 1');
-- errors are PostgreSQL's, and of evaluated rows only
SELECT inverse(tiny), count(*) FROM visit GROUP BY 1;
SELECT * FROM compared('SELECT count(*) FROM visit WHERE tiny <> 0 AND inverse(tiny) > 0.2');
SELECT * FROM compared('SELECT id FROM visit WHERE id < 5 AND inverse(tiny) > 0.4 ORDER BY id LIMIT 2');
SELECT count(*) FROM visit WHERE make_timestamp(2023, tiny, 30, 0, 0, 0) > date '2000-01-01';
BEGIN;
SAVEPOINT s;
SELECT count(*) FROM visit WHERE inverse(tiny) > 0.2;
ROLLBACK TO s;
SELECT count(*) FROM visit WHERE tiny <> 0 AND inverse(tiny) > 0.2;
COMMIT;
-- after rows have left: a cursor that comes to the error
CREATE TABLE long_list AS SELECT i AS id, (CASE WHEN i = 90001 THEN 0 ELSE i % 100 + 1 END)::smallint AS tiny FROM generate_series(1, 100000) i;
VACUUM ANALYZE long_list;
SELECT penumbra.load('long_list') > 0 AS loaded;
SET penumbra.mode = prefer;
BEGIN;
DECLARE c NO SCROLL CURSOR FOR SELECT id FROM long_list WHERE inverse(tiny) > 0.009;
FETCH 2 FROM c;
MOVE FORWARD ALL FROM c;
ROLLBACK;
RESET penumbra.mode;
-- a cancel within the function
CREATE FUNCTION sleeping(number smallint) RETURNS smallint STABLE LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(10); RETURN number; END';
SET statement_timeout = 200;
SELECT count(*) FROM visit WHERE sleeping(tiny) = 3;
RESET statement_timeout;
-- rights, parameters, what EXPLAIN says
CREATE ROLE visitor;
GRANT SELECT ON visit TO visitor;
REVOKE EXECUTE ON FUNCTION inverse(smallint) FROM public;
SET ROLE visitor;
SELECT count(*) FROM visit WHERE tiny <> 0 AND inverse(tiny) > 0.2;
RESET ROLE;
PREPARE p(text, smallint) AS SELECT to_char(day, $1), count(*) FROM visit WHERE inverse(tiny + $2) > 0.1 GROUP BY 1 ORDER BY 1 LIMIT 2;
SET plan_cache_mode = force_generic_plan;
SET penumbra.mode = require;
EXECUTE p('Mon', 1);
EXECUTE p('YYYY', 2);
EXECUTE p(NULL, 3);
CREATE OR REPLACE FUNCTION inverse(number smallint) RETURNS numeric IMMUTABLE STRICT LANGUAGE plpgsql AS 'BEGIN RETURN 2.0 / number; END';
EXECUTE p('YYYY', 2);
CREATE FUNCTION evaluations(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF) ' || query LOOP
		IF line ~ 'Evaluat' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
SELECT * FROM evaluations('SELECT to_char(day, ''YYYY-MM''), count(*) FROM visit GROUP BY 1');
RESET penumbra.mode;
DROP OWNED BY visitor;
DROP ROLE visitor;
DROP FUNCTION region_of, inverse, sleeping, compared, evaluations, explained;
DROP TABLE visit, region, long_list;
