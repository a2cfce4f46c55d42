-- Regular expressions: PostgreSQL compiles the pattern, the engine runs what comes out.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 2;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE log (id int, line text, host text, padded char(6), plain text COLLATE "C");
INSERT INTO log SELECT i, CASE WHEN i % 97 > 0 THEN format(E'%s %s user%s\tGET /path/%s%s', i, (ARRAY['INFO', 'Warn', 'ERROR'])[i % 3 + 1], i % 700, i * 7919 % 100003,
	CASE i % 5 WHEN 0 THEN E'\nsecond line' WHEN 1 THEN ' Größe' WHEN 2 THEN ' 日本 🎉' ELSE '' END) END,
	'host' || i % 13 || '.example.org', left('ab  ', i % 5), 'É' || i % 100
FROM generate_series(1, 40000) i;
VACUUM ANALYZE log;
SELECT penumbra.load('log') > 0 AS loaded;
\set VERBOSITY terse
\getenv directory PG_ABS_SRCDIR
\set explained :directory '/explained.sql'
\i :explained
-- whether all of it runs in vectors, what PostgreSQL evaluates, and how many rows match, by PostgreSQL too
CREATE FUNCTION matched(condition text, mode text DEFAULT 'auto', OUT in_vectors boolean, OUT calls text, OUT rows bigint, OUT are_equal boolean)
LANGUAGE plpgsql AS $$
DECLARE
	query text := 'SELECT count(*), sum(id) FROM log WHERE ' || condition;
	expected record;
	found record;
BEGIN
	SET LOCAL penumbra.mode = off;
	EXECUTE query INTO expected;
	PERFORM set_config('penumbra.mode', mode, true);
	EXECUTE query INTO found;
	SELECT e.in_vectors, e.calls INTO in_vectors, calls FROM explained(query) e;
	rows := found.count;
	are_equal := expected IS NOT DISTINCT FROM found;
	RESET penumbra.mode;
END $$;
EXPLAIN (COSTS OFF) SELECT count(*) FROM log WHERE line ~ 'GET /path/1\d+' AND host !~* 'HOST1[0-2]';
-- texts that hardly repeat, and a dictionary
SELECT * FROM matched($$line ~ 'GET /path/1\d+'$$);
SELECT * FROM matched($$line !~ '^\d+ INFO'$$);
SELECT * FROM matched($$line ~* 'WARN|error'$$);
SELECT * FROM matched($$line !~* 'größe'$$);
SELECT * FROM matched($$line ~* 'GRÖSSE|GRÖßE'$$);
SELECT * FROM matched($$host ~ '^host1[0-2]?\.'$$);
SELECT * FROM matched($$line SIMILAR TO '%(INFO|ERROR)_user1%'$$);
SELECT * FROM matched($$line NOT SIMILAR TO '%日_🎉'$$);
SELECT * FROM matched($$regexp_like(line, 'info', 'i') AND regexp_like(line, 'user7')$$);
-- the blanks of char(n) count
SELECT * FROM matched($$padded ~ 'ab {4}$' AND padded !~ '^a $'$$);
-- lines, words, classes, the nothing
SELECT * FROM matched($$line ~ '^second'$$);
SELECT * FROM matched($$line ~ '(?n)^second.*e$'$$);
SELECT * FROM matched($$regexp_like(line, 'path.*second', 'n') OR regexp_like(line, '^second', 'w')$$);
SELECT * FROM matched($$line ~ '\yuser1\y' OR line ~ '\m日本\M'$$);
SELECT * FROM matched($$line ~ '[[:alpha:]]{4}e$' OR line ~ '[^[:ascii:]]$'$$);
SELECT * FROM matched($$line ~ ''$$);
SELECT * FROM matched($$line ~ '***=(' OR line ~ '***:^9+ '$$);
SELECT * FROM matched($$plain ~* 'é1'$$);
SELECT * FROM matched($$plain COLLATE "C.utf8" ~* 'é1'$$);
-- NULL, CASE, the select list, groups
SELECT * FROM matched($$(line ~ 'INFO') IS NULL$$);
SELECT * FROM matched($$CASE WHEN id % 2 = 0 THEN line ~ 'Warn' ELSE line ~ 'ERROR' END$$);
SET penumbra.mode = require;
SELECT line ~ 'ERROR' AS is_error, count(*), sum(id) FROM log GROUP BY 1 ORDER BY 1;
SELECT id, line ~ 'user(3|4)\t' AS is_one FROM log WHERE id BETWEEN 1402 AND 1405 ORDER BY id;
RESET penumbra.mode;
-- where the first match is: leftmost, then longest or shortest as a whole
CREATE FUNCTION valued(expression text, mode text DEFAULT 'auto', OUT in_vectors boolean, OUT calls text, OUT are_equal boolean, OUT least_value text)
LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT v::text, count(*), sum(id) FROM (SELECT %s AS v, id FROM log) t GROUP BY v', expression);
	expected text;
	found text;
BEGIN
	SET LOCAL penumbra.mode = off;
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) q', query) INTO expected;
	PERFORM set_config('penumbra.mode', mode, true);
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C"), min(v COLLATE "C") FROM (%s) q', query) INTO found, least_value;
	are_equal := expected IS NOT DISTINCT FROM found;
	SELECT e.in_vectors, e.calls INTO in_vectors, calls FROM explained(query) e;
	RESET penumbra.mode;
END $$;
SELECT * FROM valued($$substring(line FROM 'user\d+')$$, 'require');
SELECT * FROM valued($$substring(line FROM 'us|user|u')$$, 'require');
SELECT * FROM valued($$substring(line FROM 'u\w+?')$$, 'require');
SELECT * FROM valued($$substring(line FROM '(?:a|ab)(?:c|bcd)?|日.')$$, 'require');
SELECT * FROM valued($$regexp_substr(line, '(INFO|ERROR) user1')$$, 'require');
SELECT * FROM valued($$regexp_instr(line, '本')$$, 'require');
SELECT * FROM valued($$regexp_count(line, '\y\w')$$, 'require');
SELECT * FROM valued($$regexp_replace(line, '^.*\sGET ', '', 'n')$$, 'require');
SELECT * FROM valued($$regexp_replace(line, '\d*', '#', 'g')$$, 'require');
SELECT * FROM valued($$regexp_replace(host, '[A-Z]', '日', 'gi')$$);
-- groups: the longest, the shortest, one of several, none, and whole matches
SELECT * FROM valued($$substring(host FROM 'host(\d+)')$$, 'require');
SELECT * FROM valued($$regexp_replace(host, '^host(\d+)\..*', '\1')$$, 'require');
SELECT * FROM valued($$regexp_replace(line, '(\w+?)(\d+)', '\2<\1>\\\&\x\9', 'g')$$, 'require');
SELECT * FROM valued($$substring(line FROM '(?:INFO|(ERROR)) user')$$, 'require');
SELECT * FROM valued($$(regexp_match(line, '(user|us)(er)?(\d+)(\.\d)?'))[2]$$, 'require');
SELECT * FROM valued($$(regexp_match(line, '(\d)+ (日|G)?(.*?)$', 'i'))[3]$$, 'require');
SELECT * FROM valued($$(regexp_match(line, 'user\d'))[1]$$, 'require');
SELECT * FROM valued($$(regexp_match(line, '(user)\d'))[2]$$, 'require');
SELECT * FROM valued($$substring(line FROM '%#"user_#"%' FOR '#')$$, 'require');
-- a group that is repeated: its last piece, the longest or the shortest ones, so many at most, none, empty ones
SELECT * FROM valued($$substring(host FROM 'h([a-z])*\d')$$, 'require');
SELECT * FROM valued($$substring(line FROM 'GET (/\w+)*')$$, 'require');
SELECT * FROM valued($$regexp_replace(host, '^h((o|st?)*)([0-9]{0,1})', '<\1|\2|\3>')$$, 'require');
SELECT * FROM valued($$(regexp_match(line, '^(?:(\d)|(\w)| ){0,9}(\d+)'))[2]$$, 'require');
SELECT * FROM valued($$regexp_replace(line, '(\d*?|[a-z]){0,3}(\d)?', '<\1|\2>', 'g')$$, 'require');
SELECT * FROM valued($$regexp_replace(host, '(([a-z]+)\.?)*$', '\2')$$, 'require');
SELECT * FROM valued($$substring(line FROM '日(x)*')$$, 'require');
-- pieces that are taken back, and given more
SELECT * FROM valued($$substring(repeat('a', 24) || host FROM '^(a{7}|a{5}){0,6}host')$$, 'require');
SELECT * FROM valued($$substring(repeat('a', 24) || host FROM '^(a{7}|a{5}|aa??)*?host')$$, 'require');
SELECT * FROM valued($$(regexp_match(host, '(h)(o)'))[id % 3]$$);
-- what has no automaton is PostgreSQL's, here because the host repeats
SELECT * FROM matched($$host ~ '(o)s.*\1rg'$$);
SELECT * FROM matched($$host ~ 'host(?=1\d)'$$);
SELECT * FROM matched($$host ~ ('host' || id % 3)$$);
-- for those texts alone that have what every match has
SELECT * FROM matched($$line ~ 'user(?=1\d)'$$, 'require');
SELECT * FROM matched($$line !~ '(?<!日 )user\d+(?= G)'$$, 'require');
SELECT * FROM matched($$line ~ 'us|er(?=1)'$$, 'require');
SELECT * FROM matched($$line ~ 'use{1}r*1?\.?\d(?=\d)'$$, 'require');
SELECT * FROM matched($$line ~ '^([a-z]*)ser(?!x|y).*\1' OR line ~ '(?=.*G)日'$$, 'require');
SELECT * FROM matched($$coalesce(line, '') ~ '%_|u%_(?=a)' OR line ~ 'r{1,2}(?=\d\d)'$$, 'require');
SELECT * FROM matched($$line ~ 'no such(?=a)(?=b)'$$, 'require');
-- a pattern whose automata grow without bound
SELECT * FROM matched($$line ~ '[ose].{60}[0-9]'$$, 'require');
-- PostgreSQL's error for a wrong pattern, if a row asks for it
SET penumbra.mode = prefer;
SELECT count(*) FROM log WHERE host ~ 'host(';
SELECT sum(CASE WHEN id < 0 THEN (host ~ 'host(')::int ELSE 1 END) FROM log;
SELECT count(*) FROM log WHERE regexp_like(host, 'host', 'g');
SELECT count(*) FROM log WHERE regexp_like(host, 'host', 'y');
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT count(*) FROM log WHERE host COLLATE any_case ~ 'host';
RESET penumbra.mode;
-- patterns of a prepared statement are known to its own plans
PREPARE matching(text) AS SELECT count(*) FROM log WHERE line ~ $1;
EXECUTE matching('user1\d\t');
SET plan_cache_mode = force_generic_plan;
EXECUTE matching('user1\d\t');
-- rows that the cache has not
UPDATE log SET line = line || ' changed' WHERE id % 500 = 0;
SELECT * FROM matched($$line ~ '\d+ \w+ user\d+\s.* changed$'$$);
DROP TABLE log;
DROP FUNCTION matched, valued, compared, explained;
DROP COLLATION any_case;
