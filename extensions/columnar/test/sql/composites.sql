-- Values of composite types as keys: grouped by, joined, compared and ordered in vectors; types that are altered.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\set VERBOSITY terse
\getenv directory PG_ABS_SRCDIR
\set explained :directory '/explained.sql'
\i :explained
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE address AS (street text COLLATE "C", number int, since date, tags int[]);
CREATE TYPE price AS (amount numeric(10, 2), currency text COLLATE "C");
CREATE TYPE feeling AS (how mood, at timestamptz);
CREATE TYPE nested AS (home address, id int);
CREATE TABLE person (id int, home address, cost price, feels feeling, deep nested);
INSERT INTO person SELECT i, CASE WHEN i % 50 > 0 THEN ROW(CASE WHEN i % 7 > 0 THEN 'street ' || i % 5 END, NULLIF(i % 3, 1), date '2024-01-01' + i % 4, ARRAY[i % 2])::address END,
	ROW((i % 6) / 4.0, CASE i % 2 WHEN 0 THEN 'EUR' ELSE 'USD' END)::price,
	ROW((ARRAY['sad', 'ok', 'happy'])[1 + i % 3]::mood, timestamptz '2024-01-01 UTC' + i % 3 * interval '1 h')::feeling,
	ROW(ROW('a', i % 3, NULL, NULL)::address, i % 2)::nested
FROM generate_series(1, 6000) i;
INSERT INTO person VALUES (-1, ROW(NULL, NULL, NULL, NULL), ROW(NULL, NULL), ROW(NULL, NULL), NULL);
VACUUM ANALYZE person;
SELECT penumbra.load('person') > 0 AS loaded;
SELECT penumbra.load('person', ARRAY['home', 'cost', 'feels']) > 0 AS loaded;
SELECT column_name FROM penumbra.columns WHERE column_name IN ('home', 'cost', 'feels') ORDER BY 1;
SELECT penumbra.load('person', ARRAY['deep']) > 0 AS loaded;
SET penumbra.mode = require;
SELECT * FROM compared($$SELECT home, count(*), min(id) FROM person GROUP BY home$$);
SELECT * FROM compared($$SELECT cost, feels, count(*) FROM person GROUP BY 1, 2$$);
SELECT * FROM compared($$SELECT count(DISTINCT home), count(DISTINCT cost) FROM person$$);
SELECT * FROM compared($$SELECT DISTINCT feels FROM person$$);
SELECT * FROM compared($$SELECT id, home FROM person ORDER BY home DESC, id LIMIT 30$$);
SELECT * FROM compared($$SELECT id, row_number() OVER (PARTITION BY cost ORDER BY home, id) FROM person$$);
SELECT * FROM compared($$SELECT count(*), sum(a.id) FROM person a JOIN person b ON a.home = b.home AND a.id < b.id WHERE b.id < 300$$);
SELECT * FROM compared($$SELECT count(*) FROM person WHERE home = ROW('street 1', 0, '2024-01-02', '{1}')::address OR cost < ROW(0.5, 'EUR')::price$$);
SELECT * FROM compared($$SELECT count(*) FROM person WHERE home IS DISTINCT FROM ROW(NULL, NULL, NULL, NULL)::address$$);
-- parts of values stay columns of their own
SELECT * FROM compared($$SELECT (home).street, count(*) FROM person GROUP BY 1$$, 'prefer');
-- composites in each other; the order of enums is PostgreSQL's comparison
SELECT * FROM compared($$SELECT deep, count(*) FROM person GROUP BY deep$$);
SELECT * FROM compared($$SELECT id FROM person ORDER BY feels, id LIMIT 5$$);
-- rows of tables are their columns
RESET penumbra.mode;
SELECT * FROM compared($$SELECT person, count(*) FROM person GROUP BY person$$, 'prefer');
-- an attribute that comes or goes is another shape: what was cached has the old one
ALTER TYPE address ADD ATTRIBUTE zip text COLLATE "C";
SELECT * FROM compared($$SELECT home, count(*) FROM person GROUP BY home$$, 'prefer');
UPDATE person SET home.zip = 'z' || id % 3 WHERE id % 4 = 0;
SELECT penumbra.load('person', ARRAY['home']) > 0 AS loaded;
SELECT * FROM compared($$SELECT home, count(*) FROM person GROUP BY home$$, 'require');
BEGIN;
ALTER TYPE address DROP ATTRIBUTE number;
SELECT * FROM compared($$SELECT home, count(*) FROM person GROUP BY home$$, 'prefer');
ROLLBACK;
SELECT * FROM compared($$SELECT home, count(*) FROM person GROUP BY home$$, 'require');
BEGIN;
DECLARE c CURSOR FOR SELECT home FROM person WHERE id > 5990 ORDER BY home, id;
FETCH 1 FROM c;
ALTER TYPE address DROP ATTRIBUTE tags;
FETCH 1 FROM c;
COMMIT;
SELECT penumbra.load('person', ARRAY['home']) > 0 AS loaded;
SELECT * FROM compared($$SELECT home, count(*) FROM person GROUP BY home$$, 'require');
SELECT column_name, mismatches, problem FROM penumbra.verify('person') WHERE mismatches > 0 OR problem IS NOT NULL;
DROP TABLE person;
DROP TYPE nested, address, price, feeling, mood;
DROP FUNCTION compared, explained;
