-- Dictionaries of roles: quota, permission, and dropping what nothing uses.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_compress;
RESET client_min_messages;
CREATE TABLE source (id integer PRIMARY KEY, body jsonb, words text);
INSERT INTO source
SELECT i, jsonb_build_object('identifier', md5(i::text), 'kind', (ARRAY['invoice', 'reminder', 'receipt'])[i % 3 + 1],
    'customer', jsonb_build_object('name', 'Customer number ' || i % 97, 'city', md5((i % 11)::text))), 'words of ' || i % 17 || md5((i % 19)::text)
FROM generate_series(1, 4000) i;
ANALYZE source;
SELECT train_dictionary('source', 'body', 2048, 'subject');
SELECT train_dictionary('source', 'words', 2048, 'other');
SELECT number AS n FROM compression_dictionaries WHERE name = 'subject' \gset

-- every place that a value can be in
CREATE FUNCTION long(i integer) RETURNS text LANGUAGE sql IMMUTABLE AS
$$SELECT '{"identifier": "' || md5(i::text) || '", "kind": "invoice", "customer": {"name": "Customer number 5", "city": "' || md5('5') || '"}}'$$;
SET client_min_messages = error;
CREATE TABLE in_column (v compressed_jsonb(zstd, 3, 'subject'));
CALL drop_dictionary('subject');
INSERT INTO in_column SELECT body FROM source LIMIT 10;
ALTER TABLE in_column ALTER v TYPE compressed_jsonb(zlib);
CALL drop_dictionary('subject');
DELETE FROM in_column;
-- rows that nobody sees any more do not count
SELECT * FROM dictionary_uses('subject') u ORDER BY 1;
CREATE TABLE in_toast (v compressed_text);
INSERT INTO in_toast SELECT string_agg(body::text, ' ')::compressed_text(zstd, 3, 'subject') FROM source;
CALL drop_dictionary('subject');
DROP TABLE in_toast;
CREATE TABLE in_array (v compressed_text[]);
INSERT INTO in_array SELECT ARRAY['x', NULL, long(1)::compressed_text(zstd, 3, 'subject')];
CALL drop_dictionary('subject');
DROP TABLE in_array;
CREATE TYPE pair AS (first compressed_text, second integer);
CREATE DOMAIN kept AS compressed_text;
CREATE TYPE span AS RANGE (subtype = compressed_text);
CREATE TABLE in_row (v pair[]);
INSERT INTO in_row SELECT ARRAY[ROW(long(1)::compressed_text(zstd, 3, 'subject'), 1)::pair];
CREATE TABLE in_domain (v kept);
INSERT INTO in_domain SELECT long(2)::compressed_text(zstd, 3, 'subject');
CREATE TABLE in_range (v span, m span_multirange);
INSERT INTO in_range SELECT span(NULL, long(1)::compressed_text(zstd, 3, 'subject')), NULL;
INSERT INTO in_range SELECT NULL, span_multirange(span('a', 'b'), span('c', long(1)::compressed_text(zstd, 3, 'subject')));
CREATE MATERIALIZED VIEW in_view AS SELECT long(1)::compressed_text(zstd, 3, 'subject') || '' AS plain, long(3)::compressed_text(zstd, 3, 'subject')::kept AS v;
CREATE MATERIALIZED VIEW empty_view AS SELECT v FROM in_view WITH NO DATA;
CREATE TEMP TABLE in_temp AS SELECT long(2)::compressed_text(zstd, 3, 'subject')::kept AS v;
SELECT * FROM dictionary_uses('subject') u ORDER BY 1;
DROP TABLE in_row, in_domain, in_range, in_temp;
DROP MATERIALIZED VIEW in_view CASCADE;
-- a default that old rows have without a rewrite
CREATE TABLE in_missing (id integer);
INSERT INTO in_missing VALUES (1);
ALTER TABLE in_missing ADD v kept DEFAULT long(4)::compressed_text(zstd, 3, :n);
SELECT (compression_info(v)).dictionary IS NOT NULL AS with_dictionary FROM in_missing;
SELECT * FROM dictionary_uses('subject') u ORDER BY 1;
DROP TABLE in_missing;
CREATE TABLE in_bound (v compressed_text(zstd, 3, 'subject')) PARTITION BY LIST (v);
SELECT long(5) AS bound \gset
CREATE TABLE bound PARTITION OF in_bound FOR VALUES IN (:'bound');
SELECT * FROM dictionary_uses('subject') u ORDER BY 1;
DROP TABLE in_bound;
CREATE TABLE in_statistics (a kept, b kept, c integer);
INSERT INTO in_statistics SELECT long(i % 5)::compressed_text(zstd, 3, :n), long(i % 5)::compressed_text(zstd, 3, :n), i % 5 FROM generate_series(1, 1000) i;
CREATE STATISTICS both_columns (mcv) ON a, c FROM in_statistics;
CREATE STATISTICS of_expression ON (a || ''), (b::compressed_text) FROM in_statistics;
ANALYZE in_statistics;
DELETE FROM in_statistics;
SELECT * FROM dictionary_uses('subject') u ORDER BY 1;
DROP TABLE in_statistics;
RESET client_min_messages;

-- keys of rows that are gone stay in an index above its leaves
CREATE TABLE indexed (v kept);
CREATE INDEX ON indexed (v);
INSERT INTO indexed SELECT long(i)::compressed_text(zstd, 3, :n) FROM generate_series(1, 3000) i;
SELECT count(*) FROM indexed WHERE (compression_info(v)).dictionary IS NOT NULL;
UPDATE indexed SET v = v::text::compressed_text(zstd, 3);
VACUUM indexed;
SELECT * FROM dictionary_uses('subject') u ORDER BY 1;

-- not within anything that could have a value
BEGIN;
CALL drop_dictionary('subject');
ROLLBACK;
DO $$BEGIN CALL drop_dictionary('subject'); END$$;
SET default_transaction_isolation = 'repeatable read';
CALL drop_dictionary('subject');
RESET default_transaction_isolation;
DECLARE held CURSOR WITH HOLD FOR SELECT long(7)::compressed_text(zstd, 3, 'subject');
CALL drop_dictionary('subject');
CLOSE held;
CALL drop_dictionary(NULL);
CALL drop_dictionary('missing');
DELETE FROM compression_dictionaries WHERE name = 'subject';
SELECT delete_dictionary('subject');

-- a plan that holds a value is made anew
SET plan_cache_mode = force_generic_plan;
CREATE TABLE planned (v compressed_text);
SELECT format('PREPARE holding AS INSERT INTO planned VALUES (compressed_text(%L::text, %s, false))', long(9), 5 | ((3 + 16) << 12) | (:n << 18)) AS prepare \gset
:prepare;
EXECUTE holding;
SELECT (compression_info(v)).dictionary IS NOT NULL AS with_dictionary FROM planned;
CALL drop_dictionary('subject');
TRUNCATE planned;
CALL drop_dictionary('subject');
SELECT name FROM compression_dictionaries WHERE name IN ('subject', 'other');
\set VERBOSITY sqlstate
EXECUTE holding;
\set VERBOSITY default
SELECT (compression_info(v)).dictionary IS NOT NULL AS with_dictionary, v = long(9) AS same FROM planned;
RESET plan_cache_mode;
SET enable_seqscan = off;
SELECT count(*) FROM generate_series(1, 3000) i JOIN LATERAL (SELECT FROM indexed WHERE v = long(i)) x ON true;
RESET enable_seqscan;
DROP TABLE indexed, in_column, planned;
-- the number is free for the same content again
SELECT train_dictionary('source', 'body', 2048, 'again');
SELECT number = :n AS same_number FROM compression_dictionaries WHERE name = 'again';

-- quota and permission of a role
CREATE ROLE regress_owner;
CREATE ROLE regress_neighbour;
GRANT ALL ON SCHEMA public TO regress_owner, regress_neighbour;
CREATE TABLE owned AS TABLE source;
ALTER TABLE owned OWNER TO regress_owner;
ALTER ROLE regress_owner SET penumbra_compress.dictionaries_per_role = 3;
SET penumbra_compress.dictionaries_per_role = 2;
SET ROLE regress_owner;
SET penumbra_compress.dictionaries_per_role = 100;
SELECT train_dictionary('owned', 'body', 1024, 'first');
SELECT train_dictionary('owned', 'words', 1024, 'second');
SELECT train_dictionary('owned', 'body', 512, 'third');
CREATE TABLE own_use (v compressed_jsonb(zstd, 3, 'first'));
INSERT INTO own_use SELECT body FROM owned LIMIT 10;
SELECT count(*) FROM own_use WHERE (compression_info(v)).dictionary IS NOT NULL;
CREATE TABLE refused (v compressed_jsonb(zstd, 3, 'again'));
CALL drop_dictionary('first');
SELECT dictionary_uses('first');
GRANT SELECT, INSERT ON own_use TO regress_neighbour;
SET ROLE regress_neighbour;
CREATE TABLE refused (v compressed_jsonb(zstd, 3, 'first'));
SELECT number AS first FROM compression_dictionaries WHERE name = 'first' \gset
\set VERBOSITY terse
SELECT '{}'::compressed_jsonb(zstd, 3, :first);
\set VERBOSITY default
INSERT INTO own_use SELECT '{"kind": "invoice", "customer": {"name": "Customer number 5"}}'::jsonb RETURNING v;
RESET ROLE;
-- superusers are not bound, and what they train belongs to the table's owner
SELECT train_dictionary('owned', 'body', 512, 'third');
SELECT name, owner FROM compression_dictionaries WHERE owner = 'regress_owner' ORDER BY name;
GRANT regress_owner TO regress_neighbour;
SET ROLE regress_neighbour;
CREATE TABLE allowed (v compressed_jsonb(zstd, 3, 'first'));
RESET ROLE;
DROP TABLE owned, own_use, allowed, source;
RESET penumbra_compress.dictionaries_per_role;
DROP OWNED BY regress_owner, regress_neighbour;
DROP ROLE regress_owner, regress_neighbour;
CALL drop_dictionary('first');
CALL drop_dictionary('second');
CALL drop_dictionary('third');
CALL drop_dictionary('again');
CALL drop_dictionary('other');
SELECT count(*) FROM compression_dictionaries WHERE name IN ('first', 'second', 'third', 'again', 'other');
DROP TYPE pair, span;
DROP DOMAIN kept;
DROP FUNCTION long;
