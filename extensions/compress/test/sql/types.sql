-- Every operator and function against the same on plain columns.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_compress;
CREATE VIEW texts AS
  SELECT g AS id, CASE g % 7
    WHEN 0 THEN ''
    WHEN 1 THEN 'abc' || g
    WHEN 2 THEN repeat('hello wörld ' || g % 10, g * 30 % 400)
    WHEN 3 THEN repeat(md5(g::text), 1 + g % 3)
    WHEN 4 THEN repeat('x', g * 400)
    WHEN 5 THEN (SELECT string_agg(md5((g * i)::text), ' ') FROM generate_series(1, g % 90 + 10) i)
    ELSE repeat('日本語 ' || g % 3, 5 + g * 40) END AS t
  FROM generate_series(1, 210) g;
CREATE TABLE plain AS SELECT id, t, convert_to(t, 'UTF8') AS b,
    jsonb_build_object('id', id, 't', t, 'list', jsonb_build_array(id % 5, t, NULL), 'deep', jsonb_build_object('k', id % 9)) AS j
  FROM texts;
CREATE FUNCTION fill(method text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('DROP TABLE IF EXISTS c; CREATE TABLE c (id int, t compressed_text(%1$s), b compressed_bytea(%1$s), j compressed_jsonb(%1$s))', method);
  INSERT INTO c SELECT * FROM plain;
END $$;
SET client_min_messages = warning;
SELECT fill('none');
-- What differs, of each method: nothing.
CREATE FUNCTION differences() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT count(*) FROM plain p JOIN c USING (id)
  WHERE (p.t, p.b, p.j) IS DISTINCT FROM (c.t::text, c.b::bytea, c.j::jsonb)
    OR NOT (c.t = p.t AND p.t = c.t AND c.b = p.b AND c.j = p.j AND p.j = c.j AND p.b = c.b)
    OR c.t <> p.t OR c.t < p.t OR c.b > p.b OR c.j < p.j
    OR length(c.t) <> length(p.t) OR octet_length(c.t) <> octet_length(p.t) OR length(c.b) <> length(p.b)
    OR c.t::varchar <> p.t OR (c.t || 'x') <> p.t || 'x' OR ('x' || c.t) <> 'x' || p.t OR (c.t || c.t) <> p.t || p.t
    OR (c.t LIKE '%b%1') <> (p.t LIKE '%b%1') OR (c.t ILIKE 'HEL%') <> (p.t ILIKE 'HEL%') OR (c.t ~ '[0-9]a') <> (p.t ~ '[0-9]a')
    OR starts_with(c.t, 'hello w') <> starts_with(p.t, 'hello w') OR (c.t ^@ 'abc1') <> (p.t ^@ 'abc1')
    OR EXISTS (SELECT FROM (VALUES (1, 10), (0, 5), (-3, 5), (5, 0), (505, 20), (513, 1), (4090, 20), (4097, 1), (65000, 5000), (1, 2147483647), (70000, 2147483647)) v (s, n)
               WHERE substring(c.t, s, n) <> substring(p.t, s, n) OR substr(c.t, s) <> substr(p.t, s)
                  OR "left"(c.t, s) <> "left"(p.t, s) OR substring(c.b, s, n) <> substring(p.b, s, n) OR substr(c.b, s) <> substr(p.b, s))
    OR "left"(c.t, -2) <> "left"(p.t, -2)
    OR (c.j -> 't', c.j ->> 'id', c.j -> 'list' ->> 1, c.j #> '{deep,k}', c.j #>> '{list,0}', c.j #> '{}')
       IS DISTINCT FROM (p.j -> 't', p.j ->> 'id', p.j -> 'list' ->> 1, p.j #> '{deep,k}', p.j #>> '{list,0}', p.j #> '{}')
    OR (c.j @> '{"deep": {"k": 3}}', c.j <@ '{"id": 1}', c.j ? 't', c.j ?| '{a,list}', c.j ?& '{id,z}', c.j @? '$.deep ? (@.k > 3)', c.j @@ '$.id > 100')
       IS DISTINCT FROM (p.j @> '{"deep": {"k": 3}}', p.j <@ '{"id": 1}', p.j ? 't', p.j ?| '{a,list}', p.j ?& '{id,z}', p.j @? '$.deep ? (@.k > 3)', p.j @@ '$.id > 100'));
END $$;
SELECT method, fill(method) IS NOT NULL AS filled, differences()
FROM unnest(ARRAY['none', 'pglz', 'lz4', 'lz4, 9', 'zlib', 'zlib, 1', 'zlib, 12', 'gzip', 'zstd', 'zstd, -5', 'zstd, 19', 'snappy', 'brotli', 'brotli, 0']) method;

-- Order, grouping, joins, statistics.
SELECT fill('zstd');
SELECT count(*) FROM (SELECT id, row_number() OVER (ORDER BY t, id) AS n FROM c) a
  JOIN (SELECT id, row_number() OVER (ORDER BY t, id) AS n FROM plain) b USING (id) WHERE a.n <> b.n;
SELECT count(*) FROM (SELECT id, row_number() OVER (ORDER BY t COLLATE "en_US", id) AS n FROM c) a
  JOIN (SELECT id, row_number() OVER (ORDER BY t COLLATE "en_US", id) AS n FROM plain) b USING (id) WHERE a.n <> b.n;
SELECT count(*) FROM (SELECT id, row_number() OVER (ORDER BY j, b, id) AS n FROM c) a
  JOIN (SELECT id, row_number() OVER (ORDER BY j, b, id) AS n FROM plain) b USING (id) WHERE a.n <> b.n;
SELECT (SELECT count(DISTINCT (t, b, j)) FROM c) = (SELECT count(DISTINCT (t, b, j)) FROM plain) AS same;
CREATE TABLE d AS SELECT id, t::compressed_text(lz4) AS t, b::compressed_bytea(none) AS b, j::compressed_jsonb(gzip) AS j FROM plain;
SELECT DISTINCT (compression_info(t)).method FROM d ORDER BY 1;
SET enable_mergejoin = off;
SELECT (SELECT (count(*), sum(c.id)) FROM c JOIN d USING (t)) = (SELECT (count(*), sum(p.id)) FROM plain p JOIN plain q USING (t)) AS hash_join;
SELECT (SELECT (count(*), sum(c.id)) FROM c JOIN d USING (j, b)) = (SELECT (count(*), sum(p.id)) FROM plain p JOIN plain q USING (j, b)) AS hash_join;
SELECT (SELECT (count(*), sum(c.id)) FROM c JOIN plain USING (t, b, j)) = (SELECT (count(*), sum(p.id)) FROM plain p JOIN plain q USING (t, b, j)) AS hash_join_plain;
SET enable_mergejoin = on;
SET enable_hashjoin = off;
SELECT (SELECT (count(*), sum(c.id)) FROM c JOIN d USING (t)) = (SELECT (count(*), sum(p.id)) FROM plain p JOIN plain q USING (t)) AS merge_join;
SELECT (SELECT (count(*), sum(c.id)) FROM c JOIN plain USING (t)) = (SELECT (count(*), sum(p.id)) FROM plain p JOIN plain q USING (t)) AS merge_join_plain;
RESET enable_hashjoin;

-- A collation that is not deterministic
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT 'ABC'::compressed_text COLLATE ignore_case = 'abc', 'ABC'::compressed_text COLLATE ignore_case = 'abc'::text;
SELECT count(*) FROM (SELECT DISTINCT x COLLATE ignore_case FROM (VALUES ('a'::compressed_text), ('A'), ('b')) v (x)) s;

SELECT starts_with('ABC'::compressed_text COLLATE ignore_case, 'ab');
SELECT 'ABC'::compressed_text COLLATE ignore_case ^@ 'ab';

-- A constant on the left is the same in every row.
SELECT '{"a": 1, "b": 2}'::compressed_jsonb -> k, '{"a": 1, "b": 2}'::compressed_jsonb #> ARRAY[k], '{"a": 1}'::compressed_jsonb ? k,
  'abc'::compressed_text ~ k, 'abc'::compressed_text LIKE k || '%'
FROM (VALUES ('a'), ('b'), ('a')) v (k);

-- Indexes, and plans that use them
CREATE INDEX c_t ON c (t);
CREATE INDEX c_b ON c USING hash (b);
CREATE INDEX c_j ON c USING gin (j);
CREATE INDEX c_j_path ON c USING gin (j compressed_jsonb_path_ops);
ANALYZE c;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM c WHERE t = 'abc8';
EXPLAIN (COSTS OFF) SELECT id FROM c WHERE t = 'abc8'::text;
EXPLAIN (COSTS OFF) SELECT id FROM c WHERE t LIKE 'abc1%';
EXPLAIN (COSTS OFF) SELECT id FROM c WHERE t LIKE 'abc\_';
EXPLAIN (COSTS OFF) SELECT id FROM c WHERE b = '\x616263';
EXPLAIN (COSTS OFF) SELECT id FROM c WHERE j ? 'id';
EXPLAIN (COSTS OFF) SELECT id FROM c WHERE j @> '{"deep": {"k": 3}}' ORDER BY t;
SELECT id FROM c WHERE t = 'abc8';
SELECT count(*) FROM c WHERE t LIKE 'abc1%';
SELECT count(*) FROM c WHERE j @> '{"deep": {"k": 3}}';
RESET enable_seqscan;
SELECT count(*) FROM plain WHERE t LIKE 'abc1%';
SELECT count(*) FROM plain WHERE j @> '{"deep": {"k": 3}}';
PREPARE by_text(text) AS SELECT id FROM c WHERE t = $1;
EXECUTE by_text('abc15');

-- Through the implicit cast
SELECT upper(t), jsonb_array_length(j -> 'list'), md5(b), t IS DISTINCT FROM 'x' FROM c WHERE id = 8;
SELECT jsonb_path_query_first(j, '$.deep.k') FROM c WHERE id = 8;
SELECT k FROM c, jsonb_object_keys(j) k WHERE id = 8;

-- Where a query names no function of ours: the same types and values as of plain columns
CREATE TABLE as_plain AS SELECT id, p.t, p.j,
    j || '{"z": 1}' AS right_literal, '{"z": 1}' || j AS left_literal, j || j AS itself, j || '{}' AS empty, j || jsonb '[1]' AS appended,
    to_jsonb(j) AS jsonb, to_json(j)::text AS json, jsonb_build_object('k', j) AS built, row_to_json(ROW(id, j))::text AS "row",
    json_build_array(j)::text AS json_array, j['t'] AS field, j['list'][0] AS element, j['deep']['k'] AS deep, j['nothing'] AS nothing,
    (j['id'])::integer AS number, j - 't' AS without, j #- '{deep,k}' AS without_deep, j::json::text AS cast,
    substring(t, '[0-9]+') AS digits, substring(t FROM '[a-z]+') AS letters, substring(t, '%#"[0-9]#"%', '#') AS similar, substring(t, 3) AS rest
  FROM plain p WHERE length(t) < 2000;
CREATE TABLE as_compressed AS SELECT id, p.t, p.j,
    c.j || '{"z": 1}' AS right_literal, '{"z": 1}' || c.j AS left_literal, c.j || c.j AS itself, c.j || '{}' AS empty, c.j || jsonb '[1]' AS appended,
    to_jsonb(c.j) AS jsonb, to_json(c.j)::text AS json, jsonb_build_object('k', c.j) AS built, row_to_json(ROW(id, c.j))::text AS "row",
    json_build_array(c.j)::text AS json_array, c.j['t'] AS field, c.j['list'][0] AS element, c.j['deep']['k'] AS deep, c.j['nothing'] AS nothing,
    (c.j['id'])::integer AS number, c.j - 't' AS without, c.j #- '{deep,k}' AS without_deep, c.j::json::text AS cast,
    substring(c.t, '[0-9]+') AS digits, substring(c.t FROM '[a-z]+') AS letters, substring(c.t, '%#"[0-9]#"%', '#') AS similar, substring(c.t, 3) AS rest
  FROM plain p JOIN c USING (id) WHERE length(p.t) < 2000;
SELECT attname, p.atttypid::regtype, c.atttypid::regtype FROM pg_attribute p JOIN pg_attribute c USING (attname)
WHERE p.attrelid = 'as_plain'::regclass AND c.attrelid = 'as_compressed'::regclass AND p.atttypid <> c.atttypid;
SELECT (SELECT count(*) FROM as_plain) AS rows, count(*) AS differ FROM (TABLE as_plain EXCEPT ALL TABLE as_compressed) d;
SELECT '5'::compressed_jsonb::integer, '5'::compressed_jsonb::smallint, '5'::compressed_jsonb::bigint, '5.5'::compressed_jsonb::numeric,
    '5.5'::compressed_jsonb::real, '5.5'::compressed_jsonb::double precision, 'true'::compressed_jsonb::boolean;
SELECT '"5"'::compressed_jsonb::integer;
CREATE VIEW subscripted AS SELECT j['id'] AS j FROM c;
SELECT * FROM subscripted WHERE j = '8';
SELECT j['a':'b'] FROM c;
UPDATE c SET j['id'] = '1';
DROP VIEW subscripted;
DROP TABLE as_plain, as_compressed;

-- Changing the method rewrites nothing; new values have it.
SELECT pg_relation_filenode('c') AS before \gset
ALTER TABLE c ALTER COLUMN t TYPE compressed_text(brotli, 3);
SELECT pg_relation_filenode('c') = :before AS same_file;
INSERT INTO c (id, t) VALUES (1000, repeat('literal ', 50));
INSERT INTO c (id, t) SELECT 1001, repeat('text ', 50);
SELECT id, (compression_info(t)).method FROM c WHERE id IN (2, 1000, 1001) ORDER BY id;

-- The order of bytes, whatever the collation
DROP INDEX c_t;
CREATE INDEX c_t_pattern ON c (t COLLATE "en_US" compressed_text_pattern_ops);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM c WHERE t COLLATE "en_US" LIKE 'abc1%';
EXPLAIN (COSTS OFF) SELECT id FROM c WHERE t COLLATE "en_US" LIKE 'abc8';
SELECT count(*) FROM c WHERE t COLLATE "en_US" LIKE 'abc1%';
SELECT count(*) FROM c WHERE t COLLATE "en_US" LIKE 'abc8';
RESET enable_seqscan;
SELECT count(*) FROM c a JOIN c b ON a.id % 12 = 1 AND ((a.t ~<~ b.t) <> (a.t::text COLLATE "C" < b.t::text) OR (a.t ~>=~ b.t::text) <> (a.t::text COLLATE "C" >= b.t::text)
  OR (a.t::text ~<=~ b.t) <> (a.t::text COLLATE "C" <= b.t::text) OR (a.t ~>~ b.t) <> (a.t::text COLLATE "C" > b.t::text));
SELECT opfname, amname, amvalidate(c.oid) FROM pg_opclass c JOIN pg_opfamily f ON f.oid = opcfamily JOIN pg_am a ON a.oid = opcmethod
WHERE opcname LIKE 'compressed%' AND amname <> 'gin' ORDER BY 1, 2;
DROP FUNCTION fill, differences;
DROP TABLE c, d;
