-- Functions that the engine lacks, of values that hardly repeat, are columns once they are cached.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 2;
SET max_parallel_workers_per_gather = 0;
\set VERBOSITY terse
\getenv directory PG_ABS_SRCDIR
\set explained :directory '/explained.sql'
\i :explained
CREATE TABLE visit (id int, url text, at timestamp, at_tz timestamptz, n int, price numeric, code uuid, doc jsonb);
INSERT INTO visit SELECT i, CASE WHEN i % 101 > 0 THEN 'https://www.host' || i % 1300 || '.example.org/path/' || i END,
	timestamp '2023-11-20' + i * interval '97 seconds', timestamptz '2023-11-20 UTC' + i * interval '97 seconds', i % 17 - 3, i / 7.0,
	md5(i::text)::uuid, jsonb_build_object('tags', jsonb_build_array(i, i % 3), 'price', i % 50 / 4.0)
FROM generate_series(1, 70000) i;
VACUUM ANALYZE visit;
SELECT penumbra.load('visit') > 0 AS loaded;
-- before they are cached, PostgreSQL computes them
SELECT * FROM compared($$SELECT regexp_replace(url, '^https?://(?!ftp)(www\.)?([^/]+)/.*$', '\2'), count(*) FROM visit GROUP BY 1$$);
SELECT penumbra.load('visit', ARRAY[$$regexp_replace(url, '^https?://(?!ftp)(www\.)?([^/]+)/.*$', '\2')$$, 'to_hex(hashtext(url))', $$split_part(url, '/', 3)$$,
	$$to_char(at, 'YYYY-MM-DD HH24:MI')$$, $$lpad(to_hex(hashtext(url)), 40, '*')$$, $$date_bin('15 minutes', at, timestamp '2000-01-01')$$, 'div(price, 3)', $$(regexp_match(url, 'host(\d+)'))[1]$$,
	'sha512(uuid_send(code))', $$jsonb_array_length(doc -> 'tags')$$, $$(doc -> 'price')::numeric$$, $$doc @? '$.tags[*] ? (@ == 2)'$$]) > 0 AS loaded;
-- keys of groups and orders, conditions, arguments
SELECT * FROM compared($$SELECT regexp_replace(url, '^https?://(?!ftp)(www\.)?([^/]+)/.*$', '\2'), count(*) FROM visit GROUP BY 1$$);
SELECT * FROM compared($$SELECT split_part(url, '/', 3), min(id), count(*) FROM visit WHERE to_hex(hashtext(url)) < '8' GROUP BY 1$$);
SELECT * FROM compared($$SELECT to_char(at, 'YYYY-MM-DD HH24:MI'), sum(price) FROM visit GROUP BY 1$$);
SELECT * FROM compared($$SELECT date_bin('15 minutes', at, timestamp '2000-01-01') b, count(DISTINCT lpad(to_hex(hashtext(url)), 40, '*')) FROM visit GROUP BY 1 ORDER BY 1$$);
SELECT * FROM compared($$SELECT max(div(price, 3)), sum(length(to_hex(hashtext(url)))) FROM visit WHERE id > 500$$);
SELECT * FROM compared($$SELECT (regexp_match(url, 'host(\d+)'))[1]::int % 10, count(*) FROM visit GROUP BY 1$$);
SELECT * FROM compared($$SELECT count(DISTINCT sha512(uuid_send(code))) FROM visit$$);
SELECT * FROM compared($$SELECT jsonb_array_length(doc -> 'tags'), sum((doc -> 'price')::numeric) FROM visit WHERE doc @? '$.tags[*] ? (@ == 2)' GROUP BY 1$$);
SELECT * FROM compared($$SELECT a.id FROM visit a JOIN visit b ON to_hex(hashtext(a.url)) = to_hex(hashtext(b.url)) WHERE a.id < 2000 AND b.n = 3$$);
SELECT * FROM compared($$SELECT a.id, count(to_hex(hashtext(b.url))) FROM visit a LEFT JOIN visit b ON b.id = a.id + 59000 WHERE a.id < 3000 GROUP BY 1$$);
SELECT * FROM compared($$SELECT split_part(url, '/', 3), count(*) FROM visit GROUP BY url HAVING to_hex(hashtext(url)) < '1'$$);
SELECT * FROM compared($$SELECT id FROM visit ORDER BY to_hex(hashtext(url)), id LIMIT 7$$);
-- values that repeat stay host calls
SELECT * FROM compared($$SELECT to_char(at, 'YYYY-MM'), to_hex(n), count(*) FROM visit GROUP BY 1, 2$$);
-- unless they are cached
SELECT penumbra.load('visit', ARRAY['to_hex(n)']) > 0 AS loaded;
SELECT * FROM compared($$SELECT to_char(at, 'YYYY-MM'), to_hex(n), count(*) FROM visit GROUP BY 1, 2$$);
-- what is made of such a text has no more values
SELECT penumbra.load('visit', ARRAY[$$to_char(at, 'YYYYMM')$$]) > 0 AS loaded;
SELECT * FROM compared($$SELECT to_date(to_char(at, 'YYYYMM') || '01', 'YYYYMMDD'), count(*) FROM visit GROUP BY 1$$);
-- rows that were changed since
UPDATE visit SET url = 'https://changed.example.org/' || id WHERE id % 1000 = 7;
DELETE FROM visit WHERE id % 1000 = 8;
SELECT * FROM compared($$SELECT split_part(url, '/', 3), count(*), count(DISTINCT to_hex(hashtext(url))) FROM visit GROUP BY 1$$);
-- what follows from more than the arguments, or is not PostgreSQL's own, is none
SELECT penumbra.load('visit', ARRAY[$$to_char(at_tz, 'YYYY-MM-DD HH24:MI')$$]);
SELECT penumbra.load('visit', ARRAY[$$to_char(at, 'TMDay HH24:MI')$$]);
SELECT penumbra.load('visit', ARRAY[$$to_char(at, url)$$]);
CREATE FUNCTION mine(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN to_hex(hashtext($1)); END $$;
SELECT penumbra.load('visit', ARRAY['mine(url)']);
SELECT * FROM compared('SELECT count(*) FROM visit WHERE mine(url) < ''3''');
-- an error of a row ends a load, and the query is PostgreSQL's
CREATE TABLE fragile AS SELECT i AS id, i % 20 AS n, i * 13 % 50021 AS k, to_hex(hashtext(i::text)) AS filler FROM generate_series(1, 50000) i;
VACUUM ANALYZE fragile;
SELECT penumbra.load('fragile', ARRAY['id', 'n', 'k', 'div(1000000, k)', 'to_hex(k)']) > 0 AS loaded;
PREPARE sums AS SELECT sum(CASE WHEN id <= 50000 THEN div(1000000, k) ELSE 1 END), count(DISTINCT to_hex(k)) FROM fragile;
SET plan_cache_mode = force_generic_plan;
EXECUTE sums;
SELECT * FROM compared('SELECT sum(CASE WHEN id <= 50000 THEN div(1000000, k) ELSE 1 END), count(DISTINCT to_hex(k)) FROM fragile');
SELECT * FROM compared('SELECT id, div(1000000, k) FROM fragile WHERE div(1000000, k) > 100 AND to_hex(k) < ''2''');
INSERT INTO fragile VALUES (60000, 1, 0, '');
-- the rows that the query asks about have values: once by both plans, then by PostgreSQL's alone
SELECT * FROM compared('SELECT sum(CASE WHEN id <= 50000 THEN div(1000000, k) ELSE 1 END), count(DISTINCT to_hex(k)) FROM fragile');
EXECUTE sums;
SELECT * FROM compared('SELECT sum(CASE WHEN id <= 50000 THEN div(1000000, k) ELSE 1 END), count(DISTINCT to_hex(k)) FROM fragile');
SELECT sum(div(1000000, k)) FROM fragile;
SELECT penumbra.load('fragile', ARRAY['div(1000000, k)']);
CREATE TABLE broken AS SELECT i AS id, CASE WHEN i = 40000 THEN 0 ELSE i END AS k, repeat('x', 50) AS filler FROM generate_series(1, 50000) i;
VACUUM ANALYZE broken;
SELECT penumbra.load('broken', ARRAY['id', 'div(1000000, k)']);
SELECT penumbra.load('broken', ARRAY['id', 'k']) > 0 AS loaded;
SELECT * FROM compared('SELECT count(*) FROM broken WHERE CASE WHEN id < 30000 THEN div(1000000, k) > 100 END');
SELECT count(*) FROM broken WHERE div(1000000, k) > 100;
-- of partitions, whose columns have other numbers; small ones are read from the heap
CREATE TABLE parted (id int, url text, at timestamp) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (40000);
CREATE TABLE parted_2 (gone int, at timestamp, url text, id int);
ALTER TABLE parted_2 DROP COLUMN gone;
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES FROM (40000) TO (70000);
CREATE TABLE parted_3 PARTITION OF parted FOR VALUES FROM (70000) TO (80000) PARTITION BY HASH (id);
CREATE TABLE parted_4 PARTITION OF parted_3 FOR VALUES WITH (MODULUS 1, REMAINDER 0);
INSERT INTO parted SELECT id, url, at FROM visit;
VACUUM ANALYZE parted;
SELECT penumbra.load(t) > 0 AS loaded FROM (VALUES ('parted_1'), ('parted_2')) p (t);
SELECT * FROM compared($$SELECT split_part(url, '/', 3), count(*) FROM parted WHERE to_hex(hashtext(url)) < '8' GROUP BY 1$$);
SELECT penumbra.load(t, ARRAY['to_hex(hashtext(url))', $q$split_part(url, '/', 3)$q$]) > 0 AS loaded FROM (VALUES ('parted_1'), ('parted_2')) p (t);
SELECT * FROM compared($$SELECT split_part(url, '/', 3), count(*) FROM parted WHERE to_hex(hashtext(url)) < '8' GROUP BY 1$$);
SELECT * FROM compared($$SELECT id, to_hex(hashtext(url)) FROM parted WHERE id > 39000 ORDER BY to_hex(hashtext(url)), id LIMIT 7$$);
SELECT * FROM compared($$SELECT p.id, v.n, split_part(p.url, '/', 3) FROM parted p JOIN visit v ON to_hex(hashtext(p.url)) = to_hex(hashtext(v.url)) WHERE v.id < 200$$);
UPDATE parted SET url = 'https://changed.example.org/again/' || id WHERE id % 1000 = 9;
SELECT * FROM compared($$SELECT split_part(url, '/', 3), count(*) FROM parted WHERE to_hex(hashtext(url)) < '8' GROUP BY 1$$);
-- casts by way of the value's text; a setting says what the text of a float is
CREATE TABLE texts AS SELECT i AS id, 11 + i % 2 || '.' || i % 12500 / 250 || '.' || i % 250 || '.1' AS ip, i / 7.0::float8 AS f, '{"a": ' || i % 40 || '}' AS body,
	CASE WHEN i = 50000 THEN 'none' ELSE '10.0.0.' || i % 200 END AS bad FROM generate_series(1, 60000) i;
VACUUM ANALYZE texts;
SELECT penumbra.load('texts') > 0 AS loaded;
-- values that repeat, but are many, are calls until they are cached
SELECT * FROM compared($$SELECT ip::inet << '12.0.0.0/9', count(*) FROM texts GROUP BY 1$$);
SELECT penumbra.load('texts', ARRAY['ip::inet', $$(body::jsonb) ->> 'a'$$, $$ip::inet << '12.0.0.0/9'$$]) > 0 AS loaded;
SELECT * FROM compared($$SELECT ip::inet << '12.0.0.0/9', count(*) FROM texts GROUP BY 1$$);
SELECT * FROM compared($$SELECT inet(ip), count(*) FROM texts WHERE id < 30000 GROUP BY 1$$);
SELECT * FROM compared($$SELECT (body::jsonb) ->> 'a', count(*) FROM texts GROUP BY 1$$);
SELECT penumbra.load('texts', ARRAY['f::text']);
SELECT penumbra.load('texts', ARRAY['bad::inet']);
SELECT * FROM compared($$SELECT count(*) FROM texts WHERE CASE WHEN id < 40000 THEN bad::inet < '10.0.0.9' END$$);
SELECT count(*) FROM texts WHERE bad::inet < '10.0.0.9';
-- casts of arrays
SELECT * FROM compared($$SELECT (string_to_array(ip, '.')::int[])[1], count(*) FROM texts GROUP BY 1$$);
SELECT penumbra.load('texts', ARRAY[$$string_to_array(ip, '.')::int[]$$, $$unnest(string_to_array(ip, '.')::int[])$$, $$string_to_array(ip, '.')::varchar(1)[]$$]) > 0 AS loaded;
SELECT * FROM compared($$SELECT string_to_array(ip, '.')::int[], count(*) FROM texts GROUP BY 1$$);
SELECT * FROM compared($$SELECT max(string_to_array(ip, '.')::int[]), count(*) FROM texts WHERE 249 = ANY (string_to_array(ip, '.')::int[])$$);
SELECT * FROM compared($$SELECT ip FROM texts ORDER BY string_to_array(ip, '.')::int[], id LIMIT 5$$);
SELECT * FROM compared($$SELECT part, count(*) FROM texts, unnest(string_to_array(ip, '.')::int[]) part GROUP BY 1$$);
SELECT * FROM compared($$SELECT array_to_string(string_to_array(ip, '.')::varchar(1)[], ''), count(*) FROM texts GROUP BY 1$$);
SELECT * FROM compared($$SELECT count(*) FROM texts WHERE CASE WHEN id < 40000 THEN (string_to_array(bad, '.')::int[])[4] < 9 END$$);
SELECT count(*) FROM texts WHERE (string_to_array(bad, '.')::int[])[4] < 9;
-- functions that are immutable by their declaration and look at settings all the same
CREATE TABLE looking AS SELECT i AS id, int4send(i % 30000) AS bytes, 'Name' || i % 30000 AS name, timestamptz '2024-01-01 UTC' + i * interval '797 seconds' AS at,
	CASE i % 3 WHEN 0 THEN 'EST' ELSE 'Europe/Berlin' END AS zone FROM generate_series(1, 60000) i;
VACUUM ANALYZE looking;
SELECT penumbra.load('looking') > 0 AS loaded;
SELECT penumbra.load('looking', ARRAY['bytes::text']);
SELECT penumbra.load('looking', ARRAY['quote_ident(name)']);
SELECT penumbra.load('looking', ARRAY[$$age(at, timestamptz '2024-01-01 UTC')$$]);
SELECT penumbra.load('looking', ARRAY['timezone(zone, at)']);
SELECT penumbra.load('looking', ARRAY[$$at AT TIME ZONE 'EST'$$]);
SELECT penumbra.load('looking', ARRAY[$$to_char(at AT TIME ZONE 'Europe/Berlin', 'YYYY-MM-DD HH24:MI')$$]) > 0 AS loaded;
SET bytea_output = 'escape';
SET quote_all_identifiers = on;
SET timezone_abbreviations = 'Australia';
SET TimeZone = 'Asia/Kolkata';
SELECT * FROM compared($$SELECT bytes::text, count(*) FROM looking WHERE quote_ident(name) < '"Name2' GROUP BY 1$$);
SELECT * FROM compared($$SELECT to_char(at AT TIME ZONE 'Europe/Berlin', 'YYYY-MM-DD HH24:MI'), count(*) FROM looking GROUP BY 1$$);
SELECT * FROM compared($$SELECT to_char(at AT TIME ZONE 'EST', 'YYYY-MM-DD HH24:MI'), count(*) FROM looking GROUP BY 1$$);
SELECT * FROM compared($$SELECT to_char(at AT TIME ZONE zone, 'YYYY-MM-DD HH24:MI'), count(*) FROM looking GROUP BY 1$$);
SELECT * FROM compared($$SELECT justify_hours(age(at, timestamptz '2024-01-01 UTC')), count(*) FROM looking GROUP BY 1$$);
RESET bytea_output;
RESET quote_all_identifiers;
RESET timezone_abbreviations;
RESET TimeZone;
-- what is cached of text search is as its configuration was
CREATE TEXT SEARCH DICTIONARY stems (TEMPLATE = snowball, LANGUAGE = english);
CREATE TEXT SEARCH CONFIGURATION made (COPY = english);
ALTER TEXT SEARCH CONFIGURATION made ALTER MAPPING FOR asciiword WITH stems;
CREATE TABLE phrases AS SELECT i AS id, 'the running dogs ' || i AS body, CASE i % 2 WHEN 0 THEN 'made' ELSE 'english' END::regconfig AS configuration FROM generate_series(1, 30000) i;
VACUUM ANALYZE phrases;
SELECT penumbra.load('phrases') > 0 AS loaded;
SELECT penumbra.load('phrases', ARRAY['to_tsvector(configuration, body)']);
SELECT penumbra.load('phrases', ARRAY[$$to_tsvector('made', body) @@ 'run'::tsquery$$]) > 0 AS loaded;
SELECT * FROM compared($$SELECT count(*) FROM phrases WHERE to_tsvector('made', body) @@ 'run'::tsquery$$);
ALTER TEXT SEARCH CONFIGURATION made ALTER MAPPING FOR asciiword WITH simple;
SELECT * FROM compared($$SELECT count(*) FROM phrases WHERE to_tsvector('made', body) @@ 'run'::tsquery$$);
ALTER TEXT SEARCH CONFIGURATION made ALTER MAPPING FOR asciiword WITH stems;
SELECT * FROM compared($$SELECT count(*) FROM phrases WHERE to_tsvector('made', body) @@ 'run'::tsquery$$);
ALTER TEXT SEARCH DICTIONARY stems (LANGUAGE = german);
SELECT * FROM compared($$SELECT count(*) FROM phrases WHERE to_tsvector('made', body) @@ 'run'::tsquery$$);
DROP TABLE texts, visit, fragile, broken, parted, looking, phrases;
DROP TEXT SEARCH CONFIGURATION made;
DROP TEXT SEARCH DICTIONARY stems;
DROP FUNCTION compared, explained, mine;
