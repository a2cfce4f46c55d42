-- Unique indexes, from PostgreSQL 18 on; before they are refused.
SET client_min_messages = warning;
CREATE EXTENSION penumbra_keytree;
RESET client_min_messages;
CREATE TABLE u (k int8, other int);
INSERT INTO u SELECT i, i FROM generate_series(1, 3000) i;
CREATE UNIQUE INDEX u_k ON u USING keytree (k);
SELECT current_setting('server_version_num')::int < 180000 AS refused \gset
\if :refused
DROP EXTENSION penumbra_keytree CASCADE;
DROP TABLE u;
\quit
\endif
INSERT INTO u VALUES (5, 0);
INSERT INTO u VALUES (NULL, 1), (NULL, 2);
UPDATE u SET k = k + 1 WHERE k = 7;
BEGIN;
DELETE FROM u WHERE k = 5;
INSERT INTO u VALUES (5, 55);
INSERT INTO u VALUES (5, 56);
ROLLBACK;
INSERT INTO u VALUES (5, 57) ON CONFLICT (k) DO UPDATE SET other = excluded.other;
INSERT INTO u VALUES (5, 58), (6000, 6000) ON CONFLICT DO NOTHING;
SELECT * FROM u WHERE k IN (5, 6000) ORDER BY k;
-- many versions of one key, over several pages
DO $$ BEGIN FOR i IN 1..4000 LOOP UPDATE u SET k = k, other = other + 1 WHERE k = 100; END LOOP; END $$;
INSERT INTO u VALUES (100, 0);
SELECT * FROM u WHERE k = 100;
CREATE TABLE d (k int);
INSERT INTO d VALUES (1), (2), (1);
CREATE UNIQUE INDEX ON d USING keytree (k);
CREATE UNIQUE INDEX CONCURRENTLY d_k ON d USING keytree (k);
DROP INDEX d_k;
DELETE FROM d WHERE k = 1;
INSERT INTO d VALUES (NULL), (NULL);
CREATE UNIQUE INDEX ON d USING keytree (k) NULLS NOT DISTINCT;
DELETE FROM d;
CREATE UNIQUE INDEX ON d USING keytree (k) NULLS NOT DISTINCT;
INSERT INTO d VALUES (NULL);
INSERT INTO d VALUES (NULL);
-- duplicates that different processes meet
CREATE TABLE w WITH (parallel_workers = 2) AS SELECT i AS k FROM generate_series(1, 200000) i;
INSERT INTO w VALUES (1);
SET maintenance_work_mem = '96MB';
CREATE UNIQUE INDEX w_k ON w USING keytree (k);
DELETE FROM w WHERE ctid = '(0,1)';
CREATE UNIQUE INDEX w_k ON w USING keytree (k);
SELECT penumbra_keytree.keytree_check('w_k');
INSERT INTO w VALUES (1);
-- what the planner proves from them, across types too
CREATE TABLE days (v date);
CREATE UNIQUE INDEX ON days USING keytree (v);
EXPLAIN (COSTS OFF) SELECT days.v FROM days LEFT JOIN days AS other ON other.v = days.v::timestamp;
SET client_min_messages = warning;
DROP EXTENSION penumbra_keytree CASCADE;
DROP TABLE u, d, w, days;
