-- Methods: built-in ones, those of another extension, the conformance kit.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_compress;
RESET client_min_messages;
SELECT * FROM compression_methods ORDER BY id;
-- Every built-in method conforms.
CREATE TEMP TABLE kit AS SELECT m.name, c.* FROM compression_methods m, check_compression_method(m.name) c WHERE m.name <> 'none';
SELECT * FROM kit WHERE NOT passed;
SELECT "check", count(*), bool_and(passed) AS passed FROM kit GROUP BY 1 ORDER BY 1;

-- Those of another extension
CREATE EXTENSION penumbra_compress_example;
SELECT name, min_level, max_level, default_level, takes_dictionary, extension, id >= 128 AS own_id
FROM compression_methods WHERE extension IS NOT NULL ORDER BY name;
SELECT * FROM check_compression_method('rle');
-- A method that breaks its promises is noticed.
SELECT * FROM check_compression_method('forgetful') WHERE NOT passed;
CREATE TABLE runs (id int, t compressed_text(rle), other text);
INSERT INTO runs SELECT g, repeat('a', g * 1000) || repeat('b', 70), 'other' FROM generate_series(1, 100) g;
SELECT (compression_info(t)).* FROM runs WHERE id IN (1, 100);
SELECT count(*) FROM runs WHERE t = repeat('a', id * 1000) || repeat('b', 70) AND length(t) = id * 1000 + 70
  AND substring(t, id * 1000 - 2, 6) = 'aaabbb';
\d runs
SELECT check_compression_method('none');
SELECT check_compression_method('absent');

-- What is refused
SELECT create_compression_method('mine', 'rle_handler');
CREATE TABLE bad (t compressed_text(nothing));
CREATE TABLE bad (t compressed_text(zstd, 23));
CREATE TABLE bad (t compressed_text(lz4, 0));
CREATE TABLE bad (t compressed_text(pglz, 1));
CREATE TABLE bad (t compressed_text(zlib, 4, 17));
CREATE TABLE bad (t compressed_text(zstd, 3, nothing));
CREATE TABLE bad (t compressed_text(zstd, 3, 8192));
CREATE TABLE bad (t compressed_text(zstd, x, y));
CREATE TABLE bad (t compressed_text(lz4, 9, 17));
CREATE TABLE bad (t compressed_text(zstd, 3, 1, 2));
CREATE TABLE bad (t compressed_text(rle, 1));
SET penumbra_compress.default_method = 'nothing';
SET penumbra_compress.default_method = 'lz4';
SELECT (compression_info(repeat('x', 100)::compressed_text)).method;
SELECT (compression_info(repeat('x', 100)::compressed_text(gzip, 1))).method;
RESET penumbra_compress.default_method;

-- A dictionary that is not there: a warning once per transaction, values without it.
CREATE TABLE early (t compressed_text(zstd, 3, 4711));
INSERT INTO early SELECT repeat('early ', 50 + g) FROM generate_series(1, 3) g;
SELECT (compression_info(t)).method, (compression_info(t)).dictionary, t::text = repeat('early ', length(t) / 6) AS same FROM early;

-- The extension of a method goes: its values say so, others can be read.
DROP EXTENSION penumbra_compress_example;
\c
SELECT id, other FROM runs WHERE id = 7;
SELECT length(t) FROM runs WHERE id = 7;
UPDATE registered_compression_methods SET library = '/nonexistent/not_there' WHERE name = 'rle';
SELECT t FROM runs WHERE id = 7;
SELECT name, default_level, takes_dictionary FROM compression_methods WHERE name = 'rle';
SELECT (compression_info(t)).* FROM runs WHERE id = 7;
CREATE TABLE unavailable (t compressed_text(rle));
\d runs
DELETE FROM registered_compression_methods WHERE name = 'rle';
SELECT t FROM runs WHERE id = 7;
CREATE EXTENSION penumbra_compress_example;
SELECT "left"(t, 3) FROM runs WHERE id = 7;
CREATE TABLE again (t compressed_text(forgetful));
DROP TABLE runs, again, early;
DROP EXTENSION penumbra_compress_example;
