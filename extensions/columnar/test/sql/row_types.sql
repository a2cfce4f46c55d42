-- Columns whose type is that of a table's rows, as keys: tables that change, rows that are older than that.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\set VERBOSITY terse
\getenv directory PG_ABS_SRCDIR
\set explained :directory '/explained.sql'
\i :explained
CREATE TABLE address (street text COLLATE "C", number int, since date, tags int[]);
CREATE TABLE home (id int, at address);
CREATE VIEW prices AS SELECT 1.5::numeric(10, 2) AS amount, 'EUR'::text COLLATE "C" AS currency;
CREATE TABLE parts (k int, j jsonb) PARTITION BY LIST (k);
CREATE TABLE person (id int, lives address, pair address[], inside home, cost prices, part parts) WITH (autovacuum_enabled = off);
INSERT INTO person SELECT i, a, ARRAY[a, NULL], ROW(i % 3, a)::home, ROW((i % 6) / 4.0, 'EUR')::prices, ROW(i % 4, jsonb_build_object('a', i % 3))::parts
FROM generate_series(1, 6000) i, LATERAL (SELECT CASE WHEN i % 50 > 0 THEN ROW(CASE WHEN i % 7 > 0 THEN 'street ' || i % 5 END, NULLIF(i % 3, 1), date '2024-01-01' + i % 4, ARRAY[i % 2])::address END) AS made (a);
INSERT INTO person VALUES (-1, ROW(NULL, NULL, NULL, NULL), '{}', ROW(1, NULL), ROW(NULL, NULL), NULL);
VACUUM ANALYZE person;
SELECT penumbra.load('person') > 0 AS loaded;
SELECT penumbra.load('person', ARRAY['lives', 'pair', 'inside', 'cost', 'part']) > 0 AS loaded;
SELECT column_name FROM penumbra.columns WHERE column_name IN ('lives', 'pair', 'inside', 'cost', 'part') ORDER BY 1;
SELECT * FROM compared($$SELECT lives, count(*), min(id) FROM person GROUP BY lives$$, 'require');
SELECT * FROM compared($$SELECT pair, inside, count(*) FROM person GROUP BY 1, 2$$, 'require');
SELECT * FROM compared($$SELECT cost, part, count(*) FROM person GROUP BY 1, 2$$, 'require');
SELECT * FROM compared($$SELECT count(DISTINCT lives), count(DISTINCT inside) FROM person$$, 'require');
SELECT * FROM compared($$SELECT id, lives FROM person ORDER BY lives DESC, id LIMIT 30$$, 'require');
SELECT * FROM compared($$SELECT id, row_number() OVER (PARTITION BY cost ORDER BY inside, id) FROM person$$, 'require');
SELECT * FROM compared($$SELECT count(*), sum(a.id) FROM person a JOIN person b ON a.lives = b.lives AND a.id < b.id WHERE b.id < 300$$, 'require');
SELECT * FROM compared($$SELECT count(*) FROM person WHERE lives = ROW('street 1', 0, '2024-01-02', '{1}')::address OR cost < ROW(0.5, 'EUR')::prices$$, 'require');
SELECT * FROM compared($$SELECT (lives).street, count(*) FROM person GROUP BY 1$$, 'prefer');
SELECT * FROM compared($$SELECT l, count(*) FROM person, unnest(pair) l GROUP BY l$$, 'prefer');
SELECT * FROM compared($$SELECT l.street, count(*) FROM person, unnest(pair) l GROUP BY l.street$$, 'prefer');
-- a column that comes is NULL in values of before; PostgreSQL lets none come with a default
\set VERBOSITY sqlstate
ALTER TABLE address ADD COLUMN zip text COLLATE "C" DEFAULT 'z';
\set VERBOSITY terse
ALTER TABLE address ADD COLUMN zip text COLLATE "C";
SELECT * FROM compared($$SELECT lives, count(*) FROM person GROUP BY lives$$, 'prefer');
SELECT * FROM compared($$SELECT inside, pair, count(*) FROM person GROUP BY 1, 2$$, 'prefer');
UPDATE person SET lives.zip = 'z' || id % 3 WHERE id % 4 = 0;
SELECT penumbra.load('person', ARRAY['lives', 'pair', 'inside']) > 0 AS loaded;
SELECT * FROM compared($$SELECT lives, count(*) FROM person GROUP BY lives$$, 'require');
SELECT * FROM compared($$SELECT inside, pair, count(*) FROM person GROUP BY 1, 2$$, 'require');
-- and one that goes, also in a transaction that does not commit
BEGIN;
ALTER TABLE address DROP COLUMN number;
SELECT * FROM compared($$SELECT lives, count(*) FROM person GROUP BY lives$$, 'prefer');
ROLLBACK;
SELECT * FROM compared($$SELECT lives, count(*) FROM person GROUP BY lives$$, 'require');
ALTER TABLE address DROP COLUMN tags;
SELECT * FROM compared($$SELECT lives, count(*) FROM person GROUP BY lives$$, 'prefer');
SELECT penumbra.load('person', ARRAY['lives', 'pair', 'inside']) > 0 AS loaded;
SELECT * FROM compared($$SELECT lives, count(*) FROM person GROUP BY lives$$, 'require');
SELECT * FROM compared($$SELECT inside, pair, count(*) FROM person GROUP BY 1, 2$$, 'require');
\set VERBOSITY sqlstate
ALTER TABLE address ALTER COLUMN since TYPE text;
\set VERBOSITY terse
ALTER TABLE address RENAME COLUMN since TO start;
SELECT * FROM compared($$SELECT to_jsonb(lives), count(*) FROM person GROUP BY 1$$, 'prefer');
TRUNCATE address;
SELECT * FROM compared($$SELECT lives, count(*) FROM person GROUP BY lives$$, 'require');
-- values with fewer columns than the table: what these are is forgotten when the table is rewritten
CREATE TABLE old (a int);
INSERT INTO old SELECT generate_series(1, 3000);
ALTER TABLE old ADD COLUMN b int DEFAULT 5;
CREATE TABLE kept (id serial, was old) WITH (autovacuum_enabled = off);
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO kept (was) VALUES (OLD); RETURN NEW; END $$;
CREATE TRIGGER keep BEFORE UPDATE ON old FOR EACH ROW EXECUTE FUNCTION keep();
UPDATE old SET a = a;
VACUUM ANALYZE kept;
SELECT penumbra.load('kept') > 0 AS loaded;
SELECT penumbra.load('kept', ARRAY['was', '(was).b']) > 0 AS loaded;
SELECT * FROM compared($$SELECT (was).b, count(*) FROM kept GROUP BY 1$$, 'require');
SELECT * FROM compared($$SELECT was, count(*) FROM kept GROUP BY was$$, 'require');
VACUUM FULL old;
SELECT * FROM compared($$SELECT (was).b, count(*) FROM kept GROUP BY 1$$, 'prefer');
SELECT * FROM compared($$SELECT was, count(*) FROM kept GROUP BY was$$, 'prefer');
SELECT penumbra.load('kept', ARRAY['was', '(was).b']) > 0 AS loaded;
SELECT * FROM compared($$SELECT (was).b, was, count(*) FROM kept GROUP BY 1, 2$$, 'require');
SELECT column_name, mismatches, problem FROM penumbra.verify('person') WHERE mismatches > 0 OR problem IS NOT NULL;
DROP TABLE kept, old, person, parts, home, address;
DROP VIEW prices;
DROP FUNCTION keep, compared, explained;
