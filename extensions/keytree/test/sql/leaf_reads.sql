-- Which scans take a leaf's lock.
CREATE EXTENSION penumbra_keytree;
CREATE TABLE r (k int8);
CREATE INDEX r_k ON r USING keytree (k);
INSERT INTO r SELECT i FROM generate_series(1, 20000) i;
VACUUM ANALYZE r;
SET enable_seqscan = off;
CREATE FUNCTION reads(query text, OUT without_lock bigint, OUT disturbed bigint, OUT with_lock bigint) LANGUAGE plpgsql AS $$
DECLARE
    before record;
BEGIN
    SELECT * INTO before FROM penumbra_keytree.keytree_leaf_reads();
    EXECUTE query;
    SELECT l.without_lock - before.without_lock, l.disturbed - before.disturbed, l.with_lock - before.with_lock
    INTO without_lock, disturbed, with_lock FROM penumbra_keytree.keytree_leaf_reads() l;
END $$;
SELECT penumbra_keytree.keytree_check('r_k');
-- The first look-up has no copy of the inner pages yet. A scan in descending order begins with the NULLs, of which nobody has copies.
\c -
SET enable_seqscan = off;
SELECT * FROM reads('SELECT k FROM r WHERE k = 7000');
SELECT * FROM reads('SELECT k FROM r WHERE k = 7000');
SELECT * FROM reads('SELECT k FROM r WHERE k = ANY (ARRAY[1, 10000, 20000])');
SELECT without_lock > 10 AS many, disturbed, with_lock FROM reads('SELECT count(*) FROM r WHERE k > 0');
SELECT without_lock > 10 AS many, disturbed, with_lock FROM reads('SELECT count(*) FROM (SELECT * FROM r ORDER BY k DESC OFFSET 0) x');
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SELECT * FROM reads('SELECT k FROM r WHERE k = 7000');
SET enable_indexscan = off;
SET enable_bitmapscan = on;
SELECT * FROM reads('SELECT k FROM r WHERE k = 7000');
RESET enable_indexscan;
RESET enable_indexonlyscan;
-- A tree of one page, and the tree of NULLs.
CREATE TABLE small (k int8);
CREATE INDEX small_k ON small USING keytree (k);
INSERT INTO small SELECT i FROM generate_series(1, 50) i;
VACUUM small;
SELECT * FROM reads('SELECT k FROM small WHERE k = 7');
SELECT * FROM reads('SELECT k FROM small WHERE k IS NULL');
-- Without copies of inner pages the way down ends at a locked leaf.
SET penumbra_keytree.inner_copy_memory = 0;
CREATE INDEX r_k2 ON r USING keytree (k);
DROP INDEX r_k;
SELECT * FROM reads('SELECT k FROM r WHERE k = 7000');
SELECT * FROM reads('SELECT k FROM r WHERE k = 7000');
SELECT * FROM reads('SELECT k FROM small WHERE k = 7');
RESET penumbra_keytree.inner_copy_memory;
-- Serializable transactions lock.
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM reads('SELECT k FROM r WHERE k = 7000');
SELECT * FROM reads('SELECT k FROM r WHERE k = 7000');
SELECT locktype, relation::regclass FROM pg_locks WHERE mode = 'SIReadLock' AND relation = 'r_k2'::regclass;
COMMIT;
SELECT * FROM reads('SELECT k FROM r WHERE k = 7000');
SET client_min_messages = warning;
DROP EXTENSION penumbra_keytree CASCADE;
DROP TABLE r, small;
DROP FUNCTION reads;
