-- recompress(): every value in the column's method, whatever it was.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_compress;
RESET client_min_messages;

CREATE TABLE old (id integer PRIMARY KEY, t compressed_text(lz4), note text);
INSERT INTO old SELECT i, repeat('value ' || i || ' ', 40), 'note' FROM generate_series(1, 2000) i;
INSERT INTO old VALUES (2001, NULL), (2002, ''), (2003, 'short');
ALTER TABLE old ALTER COLUMN t SET COMPRESSION zlib;
INSERT INTO old SELECT i, repeat('value ' || i || ' ', 40), 'note' FROM generate_series(3001, 3100) i;
SELECT (compression_info(t)).method, count(*) FROM old GROUP BY 1 ORDER BY 1;
CALL recompress('old', 't', batch_pages => 2);
SELECT (compression_info(t)).method, count(*) FROM old GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM old WHERE t = repeat('value ' || id || ' ', 40);
SELECT id, t FROM old WHERE id BETWEEN 2001 AND 2003 ORDER BY id;
-- nothing is left to do

CALL recompress('old', 't');
SELECT count(*) FROM recompressions;
-- another level
ALTER TABLE old ALTER COLUMN t SET COMPRESSION "zlib(1)";
CALL recompress('old', 't');
SELECT (compression_info(t)).method, (compression_info(t)).level, count(*) FROM old GROUP BY 1, 2 ORDER BY 1;
CALL recompress('old', 't');
CALL recompress('old', 't', force => true);

-- partitions and children
CREATE TABLE parted (id integer, t compressed_text(lz4)) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (100) TO (200) PARTITION BY RANGE (id);
CREATE TABLE parted_2_1 PARTITION OF parted_2 FOR VALUES FROM (100) TO (200);
INSERT INTO parted SELECT i, repeat('value ' || i, 40) FROM generate_series(1, 199) i;
ALTER TABLE parted ALTER COLUMN t SET COMPRESSION zstd;
CALL recompress('parted', 't');
SELECT (compression_info(t)).method, count(*) FROM parted GROUP BY 1;

-- jsonb and bytea
CREATE TABLE others (j compressed_jsonb(lz4), b compressed_bytea(lz4));
INSERT INTO others SELECT jsonb_build_object('key', repeat('value ' || i, 40)), convert_to(repeat('value ' || i, 40), 'UTF8')
FROM generate_series(1, 100) i;
ALTER TABLE others ALTER COLUMN j SET COMPRESSION zstd, ALTER COLUMN b SET COMPRESSION zlib;
CALL recompress('others', 'j');
CALL recompress('others', 'b');
SELECT (compression_info(j)).method, (compression_info(b)).method, count(*) FROM others GROUP BY 1, 2;

-- it goes on where it was interrupted, which others can see
INSERT INTO recompressions SELECT 'old'::regclass, 2, atttypmod, 1, 100000, 100000, 0
FROM pg_attribute WHERE attrelid = 'old'::regclass AND attname = 't';
CALL recompress('old', 't', force => true);
SELECT count(*) FROM recompressions;

-- a trigger that keeps old values, of every third row: the end comes, and tells
CREATE TABLE stubborn (id integer, t compressed_text(lz4), source text,
    g compressed_text(lz4) GENERATED ALWAYS AS (source) STORED);
INSERT INTO stubborn SELECT i, repeat('value ' || i || ' ', 40), repeat('source ' || i, 40) FROM generate_series(1, 200) i;
CREATE FUNCTION keep_old() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.t := OLD.t; RETURN NEW; END$$;
CREATE TRIGGER keep_old BEFORE UPDATE ON stubborn FOR EACH ROW WHEN (NEW.id % 3 = 0) EXECUTE FUNCTION keep_old();
ALTER TABLE stubborn ALTER COLUMN t SET COMPRESSION zstd, ALTER COLUMN g SET COMPRESSION zstd;
SET statement_timeout = '20s';
CALL recompress('stubborn', 't', batch_pages => 3);
CALL recompress('stubborn', 't', force => true);
RESET statement_timeout;
SELECT (compression_info(t)).method, count(*), bool_and(id % 3 = 0) AS kept FROM stubborn GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM stubborn WHERE t = repeat('value ' || id || ' ', 40);
-- a column that is generated says so; it follows the one that it is made of
CALL recompress('stubborn', 'g');
UPDATE stubborn SET source = source;
SELECT (compression_info(g)).method, count(*) FROM stubborn GROUP BY 1;
DROP TABLE stubborn;
DROP FUNCTION keep_old;

-- operators that somebody puts into the search path are not called
CREATE SCHEMA trap;
CREATE FUNCTION trap.spring(oid, regclass) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE FUNCTION trap.spring(regclass, regclass) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE FUNCTION trap.spring(oid, regtype) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE OPERATOR trap.= (FUNCTION = trap.spring, LEFTARG = oid, RIGHTARG = regclass);
CREATE OPERATOR trap.= (FUNCTION = trap.spring, LEFTARG = regclass, RIGHTARG = regclass);
CREATE OPERATOR trap.= (FUNCTION = trap.spring, LEFTARG = oid, RIGHTARG = regtype);
SET search_path = public, trap;
CALL recompress('old', 't');
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA trap CASCADE;
RESET client_min_messages;

-- refusals
CALL recompress('old', 'missing');
CALL recompress('old', 'note');
CALL recompress('old', 't', batch_pages => 0);
BEGIN;
CALL recompress('old', 't', force => true);
ROLLBACK;
CREATE ROLE regress_somebody;
SET ROLE regress_somebody;
CALL recompress('old', 't', force => true);
INSERT INTO recompressions SELECT 'old'::regclass, 2, 0, 1, 0, 0, 0;
RESET ROLE;
GRANT SELECT, UPDATE ON old TO regress_somebody;
SET ROLE regress_somebody;
CALL recompress('old', 't', force => true);
RESET ROLE;
DROP OWNED BY regress_somebody;
DROP ROLE regress_somebody;
DROP TABLE old, parted, others;
