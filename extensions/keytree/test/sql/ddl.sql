-- Commands that build and rebuild; other kinds of tables.
SET client_min_messages = warning;
CREATE EXTENSION penumbra_keytree;
RESET client_min_messages;
CREATE TABLE c (k int, other int);
INSERT INTO c SELECT i % 1000, i FROM generate_series(1, 5000) i;
CREATE INDEX CONCURRENTLY c_k ON c USING keytree (k);
INSERT INTO c VALUES (7, 0), (NULL, 0);
REINDEX INDEX CONCURRENTLY c_k;
REINDEX TABLE c;
SELECT penumbra_keytree.keytree_check('c_k');
CLUSTER c USING c_k;
SELECT penumbra_keytree.keytree_check('c_k');
SELECT k, other FROM c WHERE ctid = '(0,1)' AND k = 0;
ALTER TABLE c ALTER k TYPE int8;
SELECT penumbra_keytree.keytree_check('c_k');
TRUNCATE c;
SELECT penumbra_keytree.keytree_check('c_k');
INSERT INTO c SELECT i, i FROM generate_series(1, 10) i;
BEGIN;
TRUNCATE c;
INSERT INTO c SELECT i, i FROM generate_series(1, 2000) i;
ROLLBACK;
SELECT penumbra_keytree.keytree_check('c_k');
SELECT count(*) FROM c WHERE k BETWEEN 2 AND 8;

CREATE TEMP TABLE temporary (k int8) ON COMMIT DELETE ROWS;
CREATE INDEX ON temporary USING keytree (k);
BEGIN;
INSERT INTO temporary SELECT generate_series(1, 5000);
SET LOCAL enable_seqscan = off;
SELECT count(*) FROM temporary WHERE k > 4000;
COMMIT;
SELECT count(*) FROM temporary;

CREATE TABLE excluded (k int, EXCLUDE USING keytree (k WITH =));
INSERT INTO excluded VALUES (1), (2), (NULL), (NULL);
INSERT INTO excluded VALUES (1);
INSERT INTO excluded VALUES (1), (3) ON CONFLICT DO NOTHING;
SELECT k FROM excluded ORDER BY k;

CREATE TABLE parts (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (100) TO (200);
CREATE INDEX ON parts USING keytree (k);
INSERT INTO parts SELECT i, i FROM generate_series(0, 199) i;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT sum(v) FROM parts WHERE k BETWEEN 90 AND 110;
RESET ALL;

CREATE INDEX ON parts USING keytree (v) WITH (fillfactor = 50);
ALTER INDEX c_k SET (nope = 1);

-- Rows in doubt and serializable transactions: core's relation locks on the index.
BEGIN ISOLATION LEVEL SERIALIZABLE;
SET LOCAL enable_seqscan = off;
SELECT count(*) FROM c WHERE k = 5;
SELECT count(*) FROM pg_locks WHERE mode = 'SIReadLock' AND relation = 'c_k'::regclass;
COMMIT;
SET client_min_messages = warning;
DROP EXTENSION penumbra_keytree CASCADE;
DROP TABLE c, parts;
