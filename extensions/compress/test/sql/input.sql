-- Literals and parameters: their input function does not know the column's modifier; they are compressed once, by
-- the method of the column or, if it names none, the default one.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_compress;
RESET client_min_messages;
CREATE TYPE pair AS (t compressed_text, n integer);
CREATE DOMAIN plain_domain AS compressed_text;
CREATE DOMAIN lz4_domain AS compressed_text(lz4);
CREATE TABLE named (id integer PRIMARY KEY, t compressed_text(lz4), j compressed_jsonb(lz4, 9), b compressed_bytea(zlib));
CREATE TABLE unnamed (id integer PRIMARY KEY, t compressed_text, j compressed_jsonb, b compressed_bytea);
CREATE TABLE mixed (id integer PRIMARY KEY, t compressed_text(lz4), u compressed_text);
CREATE TABLE parts (id integer PRIMARY KEY, t compressed_text(lz4), a compressed_text[], p pair, d plain_domain, e lz4_domain);
SELECT repeat('words of a text ', 40) AS text, '{"list": [' || repeat('"element", ', 60) || '1]}' AS document,
    '\x' || repeat('abcdef', 200) AS bytes \gset
CREATE VIEW states AS SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'compression state';

-- a session that used the default method would have a state of it
\c
INSERT INTO named VALUES (1, :'text', NULL, NULL);
SELECT * FROM states;
INSERT INTO named VALUES (2, :'text', :'document', :'bytes'), (3, NULL, :'document', :'bytes');
UPDATE named SET j = :'document' WHERE id = 1;
INSERT INTO named VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET b = :'bytes';
SELECT * FROM states;
SELECT id, (compression_info(t)).method, (compression_info(j)).method, (compression_info(j)).level, (compression_info(b)).method,
    t = :'text' AND j = :'document' AND b = :'bytes' AS same FROM named ORDER BY id;

-- the default method
INSERT INTO unnamed VALUES (1, :'text', :'document', :'bytes');
SET penumbra_compress.default_method = 'gzip';
INSERT INTO unnamed VALUES (2, :'text', :'document', :'bytes'), (3, :'text', :'document', :'bytes');
PREPARE fill(integer, compressed_text, compressed_jsonb) AS INSERT INTO unnamed VALUES ($1, $2, $3);
EXECUTE fill(4, :'text', :'document');
\copy (SELECT 5, t, j, b FROM unnamed WHERE id = 1) TO 'unnamed.copy'
\copy unnamed FROM 'unnamed.copy'
UPDATE unnamed SET b = :'bytes' WHERE id = 4;
DO $$
DECLARE
  v compressed_text := repeat('words of a text ', 40);
  r record;
BEGIN
  INSERT INTO unnamed SELECT 6, v, j, b FROM unnamed WHERE id = 5;
  INSERT INTO unnamed VALUES (7, v, jsonb_build_object('k', v), NULL);
  EXECUTE 'INSERT INTO unnamed VALUES (8, $1, NULL, NULL)' USING v;
  FOR r IN SELECT * FROM jsonb_to_record(jsonb_build_object('t', v)) AS x(t compressed_text) LOOP
    INSERT INTO unnamed VALUES (9, r.t, NULL, NULL);
  END LOOP;
END $$;
SELECT id, (compression_info(t)).method, (compression_info(j)).method, (compression_info(b)).method FROM unnamed ORDER BY id;
SELECT count(*) FROM unnamed WHERE t = :'text' AND (id IN (7, 8, 9) OR j = :'document');
CREATE TABLE made AS SELECT :'text'::compressed_text AS t, :'text'::compressed_text(lz4) AS u;
SELECT (compression_info(t)).method, (compression_info(u)).method FROM made;

-- columns of both kinds, and parts of columns
INSERT INTO mixed VALUES (1, :'text', :'text');
UPDATE mixed SET u = :'text';
SELECT (compression_info(t)).method, (compression_info(u)).method FROM mixed;
INSERT INTO parts (id, t, a, p, d, e) VALUES (1, :'text', ARRAY[:'text'], ROW(:'text', 1), :'text', :'text');
INSERT INTO parts (id, a[1], p.t, d) VALUES (2, :'text', :'text', :'text');
SELECT (compression_info(t)).method, (compression_info(a[1])).method, (compression_info((p).t)).method, (compression_info(d)).method,
    (compression_info(e)).method FROM parts ORDER BY id;

-- values that wait are values
SELECT octet_length(:'text'::compressed_text), length(:'text'::compressed_text), substring(:'text'::compressed_text, 7, 2),
    :'text'::compressed_text = :'text'::text AS equal, hashtext(:'text'::compressed_text::text) = hashtext(:'text') AS hash;
SELECT count(*) FROM (SELECT DISTINCT x.t FROM unnamed u, LATERAL (VALUES (u.t), (:'text')) x (t)) d;
SELECT (compression_info(x)).method FROM (SELECT compressed_text_in(textout(repeat('words of a text ', 40)), 'compressed_text'::regtype, -1) AS x) s;
RESET penumbra_compress.default_method;
DROP TABLE named, unnamed, mixed, parts, made;
DROP VIEW states;
DROP TYPE pair;
DROP DOMAIN plain_domain, lz4_domain;
