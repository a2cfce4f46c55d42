-- The functions that look into an index.
SET client_min_messages = warning;
CREATE EXTENSION penumbra_keytree;
RESET client_min_messages;
SET search_path = public, penumbra_keytree;
CREATE TABLE small AS SELECT (i * 10)::int4 AS a FROM generate_series(-2, 2) i;
INSERT INTO small VALUES (NULL), (NULL);
CREATE INDEX small_a ON small USING keytree (a);
SELECT keytree_check('small_a');
SELECT * FROM keytree_stats('small_a');
SELECT level, flags, entries, key_bytes, tail_bytes, left_page, right_page, low_fence, high_fence FROM keytree_page_header('small_a', 1);
SELECT * FROM keytree_page('small_a', 1);
SELECT * FROM keytree_page('small_a', 2);

-- A tree of several levels, and the same after deletes, VACUUM and inserts.
CREATE TABLE large AS SELECT md5(i::text)::uuid AS u, i FROM generate_series(1, 150000) i;
CREATE INDEX large_u ON large USING keytree (u);
CREATE INDEX large_i ON large USING keytree (i);
SELECT root_level, entries, null_entries FROM keytree_stats('large_u');
SELECT keytree_check('large_u'), keytree_check('large_i');
DELETE FROM large WHERE i % 3 = 0 OR i BETWEEN 50000 AND 90000;
VACUUM large;
SELECT keytree_check('large_u'), keytree_check('large_i');
SELECT entries = (SELECT count(*) FROM large) AS all_entries, free_pages > 0 AS has_free_pages FROM keytree_stats('large_i');
INSERT INTO large SELECT md5(i::text)::uuid, i FROM generate_series(50000, 60000) i;
UPDATE large SET i = i + 1;
SELECT keytree_check('large_u'), keytree_check('large_i');
-- Everything in one leaf per page of the level above: the fences of a level meet, and lead from end to end.
WITH RECURSIVE chain(block, steps) AS (
    SELECT min(child), 1 FROM keytree_page('large_u', 1) WHERE entry = 0
    UNION ALL
    SELECT (keytree_page_header('large_u', block)).right_page, steps + 1 FROM chain WHERE block IS NOT NULL)
SELECT count(*) FILTER (WHERE block IS NOT NULL) > 1 AS chained FROM chain;

-- With none, few and many pages of the copy of inner levels answers are the same.
CREATE FUNCTION answers() RETURNS bigint LANGUAGE sql AS
    $$ SELECT count(*) FROM generate_series(1, 150000, 7) g JOIN large ON u = md5(g::text)::uuid $$;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT answers();
SET penumbra_keytree.inner_copy_memory = 0;
SELECT answers();
SET penumbra_keytree.inner_copy_memory = '16kB';
SELECT answers();
RESET penumbra_keytree.inner_copy_memory;
SELECT answers();
-- A relation that is filled anew under its name, in the transaction that created it.
BEGIN;
CREATE TABLE anew (a int8);
CREATE INDEX anew_a ON anew USING keytree (a);
INSERT INTO anew SELECT i FROM generate_series(1, 100000) i;
SELECT count(*) FROM anew WHERE a = ANY (ARRAY[5, 50000, 99999]);
TRUNCATE anew;
SELECT count(*) FROM anew WHERE a = ANY (ARRAY[5, 50000, 99999]);
INSERT INTO anew VALUES (5);
SELECT count(*) FROM anew WHERE a = ANY (ARRAY[5, 50000, 99999]);
COMMIT;
SELECT keytree_check('anew_a');

-- Not for everything, nor for everybody.
CREATE INDEX large_btree ON large (i);
\set VERBOSITY terse
SELECT keytree_check('large_btree');
SELECT keytree_check('large');
SELECT keytree_page('small_a', 0);
SELECT keytree_page('small_a', 3);
SELECT keytree_page('small_a', -1);
CREATE ROLE keytree_nobody;
SET ROLE keytree_nobody;
SELECT penumbra_keytree.keytree_check('small_a');
RESET ROLE;
DROP ROLE keytree_nobody;
SET client_min_messages = warning;
DROP EXTENSION penumbra_keytree CASCADE;
DROP TABLE small, large, anew;
DROP FUNCTION answers;
