-- CREATE INDEX: every shape of data, in memory and spilled to disk; the check proves the tree and compares it with the heap.
CREATE EXTENSION penumbra_keytree;
SET search_path = public, penumbra_keytree;
CREATE TABLE b (random_int8 int8, random_int4 int4, sequential int8, reversed int4, few int2, same int4, nulls int8,
    u uuid, like_uuid uuid, d date, ts timestamp, tz timestamptz);
INSERT INTO b SELECT ('x' || left(md5(i::text), 16))::bit(64)::int8, ('x' || left(md5(i::text), 8))::bit(32)::int4, i, -i, i % 7, 42,
    CASE WHEN i % 3 = 0 THEN i END, md5(i::text)::uuid,
    ('00000000-0000-0000-' || left(md5(i::text), 4) || '-000000000000')::uuid, date '2020-01-01' + i % 999,
    timestamp '2020-01-01' + i * interval '1 s', timestamptz '2020-01-01' - i * interval '1 minute'
FROM generate_series(1, 100000) i;
INSERT INTO b (random_int8, random_int4, d, ts, u) VALUES
    (-9223372036854775808, -2147483648, '-infinity', '-infinity', '00000000-0000-0000-0000-000000000000'),
    (9223372036854775807, 2147483647, 'infinity', 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff');
CREATE FUNCTION build_all(memory text) RETURNS TABLE (attribute name, entries bigint, narrower boolean) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('maintenance_work_mem', memory, true);
    FOR attribute IN SELECT attname FROM pg_attribute WHERE attrelid = 'b'::regclass AND attnum > 0 ORDER BY attnum LOOP
        EXECUTE format('DROP INDEX IF EXISTS built, btree_built; CREATE INDEX built ON b USING keytree (%1$I);'
                       'CREATE INDEX btree_built ON b (%1$I)', attribute);
        PERFORM keytree_check('built');
        SELECT s.entries, bytes < pg_relation_size('btree_built') INTO entries, narrower FROM keytree_stats('built') s;
        RETURN NEXT;
    END LOOP;
END $$;
SET client_min_messages = warning;
SELECT * FROM build_all('64MB');
SELECT * FROM build_all('1MB');

-- Partial and on an expression; of a table without rows; inserts after it.
CREATE INDEX partial ON b USING keytree (random_int8) WHERE few = 3;
CREATE INDEX expression ON b USING keytree ((sequential % 1000));
CREATE TABLE empty (a int8);
CREATE INDEX empty_a ON empty USING keytree (a);
SELECT keytree_check('partial'), keytree_check('expression'), keytree_check('empty_a');
CREATE INDEX after_build ON b USING keytree (random_int8);
INSERT INTO b (random_int8, few, sequential) SELECT i::int8 * 1000003, i % 7, i FROM generate_series(1, 20000) i;
DELETE FROM b WHERE few = 2;
VACUUM b;
SELECT keytree_check('partial'), keytree_check('expression'), keytree_check('after_build');
REINDEX INDEX CONCURRENTLY after_build;
SELECT keytree_check('after_build');
-- A build that is cancelled, when it reads its 50,000th row, leaves nothing behind.
CREATE FUNCTION cancel_at(key int8, at int8) RETURNS int8 IMMUTABLE LANGUAGE sql AS $$
    SELECT CASE WHEN key = at AND pg_cancel_backend(pg_backend_pid()) THEN 0 ELSE key END $$;
CREATE INDEX cancelled ON b USING keytree (cancel_at(sequential, 50000));
SELECT count(*) FROM pg_class WHERE relname = 'cancelled';
-- Workers that take part, and fail, or meet a cancel, leave nothing behind either.
CREATE FUNCTION in_worker(key int8, deed text) RETURNS int8 IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
BEGIN
    IF pg_backend_pid()::text = current_setting('test.leader') THEN
        PERFORM pg_sleep(0.01) WHERE key % 1000 = 0;
    ELSIF deed = 'fail' THEN
        RAISE EXCEPTION 'a worker met a row';
    ELSE
        PERFORM pg_cancel_backend(current_setting('test.leader')::int) WHERE key % 1000 = 1;
    END IF;
    RETURN key;
END $$;
SELECT set_config('test.leader', pg_backend_pid()::text, false) IS NOT NULL AS set;
ALTER TABLE b SET (parallel_workers = 2);
SET maintenance_work_mem = '96MB';
\set VERBOSITY terse
CREATE INDEX failed ON b USING keytree (in_worker(sequential, 'fail'));
CREATE INDEX failed ON b USING keytree (in_worker(sequential, 'cancel'));
CREATE INDEX CONCURRENTLY after_failure ON b USING keytree (u);
SELECT keytree_check('after_failure');
SELECT count(*) FROM pg_class WHERE relname = 'failed';
SELECT count(*) FROM pg_ls_dir('base/pgsql_tmp', true, false);
-- Pages with HOT chains, dead rows, rows of this transaction: with dead line pointers, then without.
CREATE TABLE h (k int8, v int) WITH (fillfactor = 50, parallel_workers = 2);
INSERT INTO h SELECT i, 0 FROM generate_series(1, 20000) i;
UPDATE h SET v = 1 WHERE k % 3 = 0;
DELETE FROM h WHERE k % 50 = 0 OR k BETWEEN 5000 AND 6000;
CREATE INDEX h_dead ON h USING keytree (k);
VACUUM h;
CREATE INDEX h_vacuumed ON h USING keytree (k);
BEGIN;
INSERT INTO h SELECT i, 0 FROM generate_series(20001, 21000) i;
UPDATE h SET v = 2 WHERE k % 1000 = 1;
DELETE FROM h WHERE k % 1000 = 2;
CREATE INDEX h_in_progress ON h USING keytree (k);
COMMIT;
SELECT relname, keytree_check(oid) FROM pg_class WHERE relname ~ '^h_' ORDER BY relname;
SET client_min_messages = warning;
DROP EXTENSION penumbra_keytree CASCADE;
DROP TABLE b, empty, h;
DROP FUNCTION build_all, cancel_at, in_worker;
