-- Dead entries make room without VACUUM: what scans have marked, and what UPDATEs of other columns leave behind.
SET client_min_messages = warning;
CREATE EXTENSION penumbra_keytree;
RESET client_min_messages;
CREATE TABLE marked (k int, other int);
CREATE INDEX marked_k ON marked USING keytree (k);
INSERT INTO marked SELECT n, n FROM generate_series(1, 2000) n;
CREATE FUNCTION kilobytes(index regclass) RETURNS bigint LANGUAGE sql AS 'SELECT pg_relation_size(index) / 1024';
SET enable_seqscan = off;
SET enable_bitmapscan = off;
DO $$
DECLARE before bigint := kilobytes('marked_k');
BEGIN
    FOR i IN 1..30 LOOP
        DELETE FROM marked;
        COMMIT;
        -- marks
        PERFORM count(other) FROM marked WHERE k > 0;
        PERFORM count(other) FROM marked WHERE k > 0;
        INSERT INTO marked SELECT n, n FROM generate_series(1, 2000) n;
        COMMIT;
    END LOOP;
    RAISE NOTICE 'grown by less than half of the entries: %', kilobytes('marked_k') < 15 * before;
END $$;
SELECT count(*), sum(k) FROM marked WHERE k > 0;

-- Versions of the same rows: the second index keeps the updates from being HOT.
CREATE TABLE versions (k int, other int);
CREATE INDEX versions_k ON versions USING keytree (k);
CREATE INDEX versions_other ON versions (other);
INSERT INTO versions SELECT i, i FROM generate_series(1, 1000) i;
DO $$
DECLARE before bigint := kilobytes('versions_k');
BEGIN
    FOR i IN 1..60 LOOP
        UPDATE versions SET other = other + 1;
        COMMIT;
    END LOOP;
    RAISE NOTICE 'grown by less than half of the entries: %', kilobytes('versions_k') < 15 * before;
END $$;
SELECT count(*), sum(k), sum(other) FROM versions WHERE k > 0;
SET client_min_messages = warning;
DROP EXTENSION penumbra_keytree CASCADE;
DROP TABLE marked, versions;
DROP FUNCTION kilobytes;
