-- Dictionaries: training, use, and that a value never loses its own.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_compress;
RESET client_min_messages;

CREATE TABLE documents (id integer PRIMARY KEY, body jsonb);
INSERT INTO documents
SELECT i, jsonb_build_object('identifier', md5(i::text), 'kind', (ARRAY['invoice', 'reminder', 'receipt'])[i % 3 + 1],
    'customer', jsonb_build_object('name', 'Customer number ' || i % 97, 'city', md5((i % 11)::text)),
    'amount', i % 1000 / 10.0, 'currency', 'EUR')
FROM generate_series(1, 4000) i;
ANALYZE documents;

SELECT train_dictionary('documents', 'body', 4096, 'invoices');
SELECT name, length(content) <= 4096 AS in_bounds, trained_on, number = (id & 8191) AS number_is_of_id
FROM compression_dictionaries;
SELECT train_dictionary('documents', 'body', 4096, 'invoices');
-- a name of its own
SELECT train_dictionary('documents', 'body', 2048);
SELECT train_dictionary('documents', 'body', 2048);
SELECT count(DISTINCT number), count(DISTINCT id) FROM compression_dictionaries;

CREATE TABLE plain AS SELECT id, body FROM documents;
ALTER TABLE documents ALTER COLUMN body TYPE compressed_jsonb(zstd, 3, 'invoices');
SELECT count(*) FROM documents d JOIN plain p USING (id) WHERE d.body::jsonb = p.body;
SELECT (compression_info(body)).method,
    (compression_info(body)).dictionary = (SELECT id FROM compression_dictionaries WHERE name = 'invoices') AS with_dictionary,
    count(*)
FROM documents GROUP BY 1, 2;
CREATE TABLE without_dictionary (id integer, body compressed_jsonb(zstd, 3));
INSERT INTO without_dictionary SELECT * FROM plain;
SELECT sum(pg_column_size(d.body)) * 2 < sum(pg_column_size(w.body)) AS half_at_most
FROM documents d JOIN without_dictionary w USING (id);

-- values keep their dictionary in other tables
CREATE TABLE copied AS SELECT * FROM documents;
CREATE TABLE inserted (id integer, body compressed_jsonb(zlib));
INSERT INTO inserted SELECT * FROM documents;
SELECT count(*) FROM copied c JOIN inserted i USING (id) JOIN plain p USING (id)
WHERE c.body::jsonb = p.body AND i.body::jsonb = p.body;

-- lz4 takes dictionaries too, other methods say that they do not
CREATE TABLE fast (id integer, body compressed_jsonb(lz4, 1, 'invoices'));
INSERT INTO fast SELECT * FROM plain;
SELECT count(*) FROM fast f JOIN plain p USING (id) WHERE f.body::jsonb = p.body;
CREATE TABLE refused (body compressed_jsonb(zlib, 6, 'invoices'));
CREATE TABLE refused (body compressed_jsonb(zstd, 3, 'no such dictionary'));

-- never changed, never lost
DELETE FROM compression_dictionaries;
UPDATE compression_dictionaries SET name = 'other';
TRUNCATE compression_dictionaries;
SET session_replication_role = replica;
DELETE FROM compression_dictionaries;
RESET session_replication_role;
DROP TABLE compression_dictionaries;
INSERT INTO compression_dictionaries SELECT id + 8192, number, 'forged', content, trained_on FROM compression_dictionaries WHERE name = 'invoices';

-- what rolls back leaves nothing that a value would need
BEGIN;
SELECT train_dictionary('documents', 'body', 512, 'gone');
CREATE TABLE abandoned (body compressed_jsonb(zstd, 3, 'gone'));
INSERT INTO abandoned SELECT body FROM plain LIMIT 10;
SELECT (compression_info(body)).dictionary IS NOT NULL AS with_dictionary, count(*) FROM abandoned GROUP BY 1;
SELECT number AS gone FROM compression_dictionaries WHERE name = 'gone' \gset
ROLLBACK;
CREATE TABLE abandoned (id integer, body compressed_jsonb(zstd, 3, :gone));
\set VERBOSITY sqlstate
INSERT INTO abandoned SELECT * FROM plain LIMIT 10;
\set VERBOSITY default
SELECT (compression_info(body)).dictionary IS NOT NULL AS with_dictionary, count(*) FROM abandoned GROUP BY 1;
SELECT count(*) FROM abandoned a JOIN plain p USING (id) WHERE a.body::jsonb = p.body;
-- also in a subtransaction
BEGIN;
SAVEPOINT s;
SELECT train_dictionary('documents', 'body', 512, 'gone') = 'gone' AS trained;
INSERT INTO abandoned SELECT id + 10000, body FROM plain WHERE id <= 5;
ROLLBACK TO s;
\set VERBOSITY sqlstate
INSERT INTO abandoned SELECT id + 10000, body FROM plain WHERE id <= 5;
\set VERBOSITY default
COMMIT;
SELECT (compression_info(body)).dictionary IS NOT NULL AS with_dictionary, count(*) FROM abandoned WHERE id > 10000 GROUP BY 1;

-- refusals
SELECT train_dictionary('documents', 'missing');
SELECT train_dictionary('documents', 'id');
SELECT train_dictionary('documents', 'body', 10);
SELECT train_dictionary('documents', 'body', 4096, '12');
CREATE TABLE few (t text);
INSERT INTO few VALUES ('one'), ('two');
SELECT train_dictionary('few', 't', 4096);
CREATE ROLE regress_reader;
GRANT SELECT ON documents TO regress_reader;
SET ROLE regress_reader;
SELECT train_dictionary('documents', 'body', 4096, 'readers');
SELECT content FROM compression_dictionaries;
SELECT count(*) FROM compression_dictionaries WHERE name = 'invoices';
SELECT count(*) FROM documents WHERE body ->> 'kind' = 'invoice';
RESET ROLE;
DROP OWNED BY regress_reader;
DROP ROLE regress_reader;

-- advice: what it says about sizes holds for the table that its DDL makes
CREATE TEMP TABLE advice AS SELECT * FROM compression_advice('plain', 'body');
SELECT count(*) > 20 AS many, bool_and(ratio > 0.9) AS ratios, bool_and(compress_us >= 0 AND decompress_us >= 0) AS times,
    count(dictionary_bytes) AS with_dictionary
FROM advice;
SELECT ddl FROM advice WHERE method = 'zlib' AND level = 4;
SELECT ddl FROM advice WHERE method = 'zstd' AND level = 3 AND dictionary_bytes = 4096;
SELECT ddl, ratio FROM advice WHERE method = 'zstd' AND level = 3 AND dictionary_bytes = 4096 \gset
SELECT sum(pg_column_size(body)) AS plain_bytes FROM plain \gset
:ddl
SELECT format_type(atttypid, NULL), abs(:plain_bytes::numeric / sum(pg_column_size(body)) / :ratio - 1) < 0.1 AS as_foretold
FROM plain, pg_attribute WHERE attrelid = 'plain'::regclass AND attname = 'body' GROUP BY 1;
SELECT count(*) FROM compression_advice('few', 't');
SELECT count(*) FROM compression_advice('documents', 'body', 100);
DELETE FROM few;
SELECT count(*) FROM compression_advice('few', 't');
SELECT compression_advice('documents', 'id');
SELECT compression_advice('documents', 'body', 0);
DROP TABLE documents, plain, without_dictionary, copied, inserted, fast, abandoned, few;
