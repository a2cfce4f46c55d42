-- What security labels say of caching a table and its columns.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE FUNCTION cached(relation text) RETURNS text LANGUAGE sql AS
$$SELECT string_agg(column_name, ',' ORDER BY column_name) FROM penumbra.columns WHERE relid = relation::regclass$$;
CREATE TABLE t (a int, b text, "ä ""c'" int);
INSERT INTO t SELECT i, i::text, i FROM generate_series(1, 5000) i;
VACUUM t;

-- what is no label
SECURITY LABEL FOR penumbra ON TABLE t IS 'Never';
SECURITY LABEL FOR penumbra ON TABLE t IS '';
SECURITY LABEL FOR penumbra ON TABLE t IS 'allow';
SECURITY LABEL FOR penumbra ON TABLE t IS 'priority';
SECURITY LABEL FOR penumbra ON TABLE t IS 'priority=0';
SECURITY LABEL FOR penumbra ON TABLE t IS 'priority=17';
SECURITY LABEL FOR penumbra ON TABLE t IS 'priority=-1';
SECURITY LABEL FOR penumbra ON TABLE t IS 'priority=18446744073709551617';
SECURITY LABEL FOR penumbra ON TABLE t IS 'priority=2 ';
SECURITY LABEL FOR penumbra ON COLUMN t.a IS 'pin';
SECURITY LABEL FOR penumbra ON SCHEMA public IS 'never';
CREATE VIEW v AS SELECT * FROM t;
SECURITY LABEL FOR penumbra ON VIEW v IS 'never';
SELECT * FROM pg_seclabels WHERE provider = 'penumbra';

-- a table that is never cached: what is there goes when the label is committed
SELECT penumbra.load('t') > 0, cached('t');
BEGIN;
SECURITY LABEL FOR penumbra ON TABLE t IS 'never';
SELECT cached('t');
ROLLBACK;
SELECT cached('t');
SECURITY LABEL FOR penumbra ON TABLE t IS 'never';
SELECT cached('t');
SELECT penumbra.load('t');
SELECT penumbra.load('t', '{a}');
SELECT count(*), sum(a) FROM t;

-- but for some columns, also when they are renamed
SECURITY LABEL FOR penumbra ON COLUMN t.a IS 'allow';
SECURITY LABEL FOR penumbra ON COLUMN t."ä ""c'" IS 'allow';
SELECT penumbra.load('t') > 0, cached('t');
ALTER TABLE t RENAME a TO "b'";
SELECT penumbra.unload('t') > 0, penumbra.load('t') > 0, cached('t');
SELECT penumbra.load('t', '{b}');
SECURITY LABEL FOR penumbra ON COLUMN t."b'" IS NULL;
SELECT cached('t');
SELECT penumbra.load('t') > 0, cached('t');

-- a column that is never cached
SECURITY LABEL FOR penumbra ON TABLE t IS NULL;
SECURITY LABEL FOR penumbra ON COLUMN t.b IS 'never';
SELECT penumbra.load('t') > 0, cached('t');
SELECT penumbra.load('t', '{b}');
SELECT penumbra.refresh('t') >= 0, cached('t');

-- partitions have their table's labels, by name, and their own before them
CREATE TABLE p (k int, v int, w int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p2 (dropped int, w int, v int, k int);
ALTER TABLE p2 DROP COLUMN dropped;
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES IN (2);
CREATE TABLE p3 PARTITION OF p FOR VALUES IN (3);
INSERT INTO p SELECT i % 3 + 1, i, i FROM generate_series(1, 3000) i;
VACUUM p;
SECURITY LABEL FOR penumbra ON TABLE p IS 'never';
SECURITY LABEL FOR penumbra ON COLUMN p.v IS 'allow';
SECURITY LABEL FOR penumbra ON TABLE p1 IS 'priority=1';
SECURITY LABEL FOR penumbra ON COLUMN p3.v IS 'never';
SET client_min_messages = notice;
SELECT penumbra.load('p');
SET client_min_messages = warning;
SELECT cached('p1'), cached('p2'), cached('p3');
ALTER TABLE p DETACH PARTITION p2;
SELECT penumbra.load('p2') > 0, cached('p2');

-- who may label
CREATE ROLE label_owner;
GRANT CREATE ON SCHEMA public TO label_owner;
SET ROLE label_owner;
CREATE TABLE mine (a int);
SECURITY LABEL FOR penumbra ON TABLE t IS 'never';
SECURITY LABEL FOR penumbra ON TABLE mine IS 'pin';
SECURITY LABEL FOR penumbra ON TABLE mine IS 'priority=2';
SECURITY LABEL FOR penumbra ON TABLE mine IS 'priority=1';
SECURITY LABEL FOR penumbra ON TABLE mine IS 'never';
SECURITY LABEL FOR penumbra ON COLUMN mine.a IS 'allow';
RESET ROLE;
SECURITY LABEL FOR penumbra ON TABLE mine IS 'pin';
SELECT objtype, objname, label FROM pg_seclabels WHERE provider = 'penumbra' ORDER BY 1, 2;

-- labels go with their tables
DROP VIEW v;
DROP TABLE t, p, p2, mine;
SELECT count(*) FROM pg_seclabels WHERE provider = 'penumbra';
REVOKE CREATE ON SCHEMA public FROM label_owner;
DROP ROLE label_owner;
DROP FUNCTION cached(text);
