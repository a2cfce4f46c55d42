-- A row for each element of an array or a document's array, or for each field of an object: the same rows with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET timezone = 'Europe/Berlin';
SET lc_monetary = 'C';
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

CREATE FUNCTION numbers(k int) RETURNS int[] LANGUAGE sql IMMUTABLE AS $$
SELECT CASE k % 11 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{NULL}' WHEN 3 THEN '{{1,2},{NULL,4}}' WHEN 4 THEN '[-3:-2]={7,8}'
  WHEN 5 THEN '[2:3][0:0][7:8]={{{1,NULL}},{{3,4}}}' WHEN 6 THEN ARRAY(SELECT s % 100 FROM generate_series(1, k) s)
  ELSE ARRAY[k % 5, NULL, k % 70, k] END::int[] $$;
CREATE FUNCTION labels(k int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
SELECT CASE k % 9 WHEN 0 THEN NULL WHEN 1 THEN '[]' WHEN 2 THEN '[null, "a", 1.50, true, {"k": [1]}, [[], {}], 1e3, ""]'
  ELSE jsonb_build_array('l' || k % 7, k % 13, NULL, 'long label number ' || k % 5) END $$;
CREATE FUNCTION items(k int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
SELECT CASE k % 5 WHEN 0 THEN '{}' WHEN 1 THEN '{"items": []}' WHEN 2 THEN '{"items": [null, {"sku": null, "deep": [1]}, [1], "s", {"n": 1}]}'
  ELSE jsonb_build_object('items', jsonb_build_array(jsonb_build_object('sku', 's' || k % 17, 'n', k % 4), jsonb_build_object('sku', 's' || k % 3, 'n', 2, 'note', repeat('y', k % 99)))) END $$;
CREATE DOMAIN int_list AS int[];
CREATE DOMAIN small AS int CHECK (VALUE < 100000);
CREATE TYPE pair AS (a int, b int);
CREATE TABLE posts (id int, grp int, tags text[], nums int[], listed int_list, doc jsonb, pairs pair[]) WITH (autovacuum_enabled = off);
INSERT INTO posts SELECT k, k % 10,
  CASE k % 8 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{NULL,NULL}' WHEN 3 THEN ARRAY['', 'a tag of more than twelve bytes ' || k % 3, 't' || k % 9]
    ELSE ARRAY['t' || k % 7, 't' || k % 50, repeat('x', k % 300)] END,
  numbers(k), numbers(k + 1), jsonb_build_object('labels', labels(k), 'n', k % 3) || items(k), ARRAY[(k, 1)::pair]
FROM generate_series(1, 1500) k;
-- out of line and compressed; more than a vector has rows; more strings than get codes
UPDATE posts SET nums = ARRAY(SELECT s FROM generate_series(1, 5000) s), tags = ARRAY(SELECT 'many ' || s FROM generate_series(1, 5000) s)
WHERE id = 700;
UPDATE posts SET tags = array_fill('same'::text, ARRAY[3000]), doc = jsonb_set(doc, '{labels}', (SELECT jsonb_agg(md5(s::text)) FROM generate_series(1, 300) s))
WHERE id IN (3, 1400);
CREATE TABLE words (word text, meaning int);
INSERT INTO words SELECT 't' || k, k FROM generate_series(0, 20) k;
VACUUM ANALYZE posts, words;

CREATE TABLE questions (q text, id serial);
INSERT INTO questions (q) VALUES
  ('SELECT x, count(*), sum(id) FROM posts, unnest(tags) x GROUP BY x'),
  ('SELECT x, count(*), min(id) FROM posts, unnest(nums) x GROUP BY x'),
  ('SELECT count(*), count(x), count(DISTINCT x), sum(x) FROM posts CROSS JOIN LATERAL unnest(nums) x'),
  ('SELECT count(*), count(x), sum(x), max(o), sum(o) FROM posts, unnest(nums) WITH ORDINALITY AS u(x, o)'),
  ('SELECT id, x, o FROM posts, unnest(tags) WITH ORDINALITY AS u(x, o) WHERE id < 60'),
  ('SELECT id, x, o FROM posts LEFT JOIN LATERAL unnest(tags) WITH ORDINALITY AS u(x, o) ON true WHERE id < 60'),
  ('SELECT id, x FROM posts LEFT JOIN LATERAL unnest(nums) x ON true WHERE grp = 4 ORDER BY id, x'),
  ('SELECT id, x FROM posts JOIN LATERAL unnest(nums) x ON true WHERE grp = 4 AND x > id % 7 ORDER BY id, x'),
  ('SELECT count(*), count(x), count(y), count(DISTINCT y), max(o) FROM posts, unnest(tags, nums) WITH ORDINALITY AS u(x, y, o)'),
  ('SELECT x, y, o FROM posts, ROWS FROM (unnest(nums), unnest(listed), jsonb_array_elements_text(doc->''labels'')) WITH ORDINALITY AS u(x, y, z, o) WHERE id < 40'),
  ('SELECT a.x, b.y, count(*) FROM posts, unnest(tags) AS a(x), unnest(nums) AS b(y) WHERE grp < 3 AND y < 5 GROUP BY 1, 2'),
  ('SELECT x, count(*) FROM posts, unnest(listed) x GROUP BY 1'),
  ('SELECT x, count(*) FROM posts, jsonb_array_elements_text(doc->''labels'') x WHERE doc->''labels'' IS NOT NULL AND jsonb_typeof(doc->''labels'') = ''array'' GROUP BY 1'),
  ('SELECT x, count(*) FROM posts, jsonb_array_elements_text(doc->''labels'') x GROUP BY 1'),
  ('SELECT x FROM posts, jsonb_array_elements_text(doc#>''{labels,3}'') x'),
  ('SELECT x FROM posts, jsonb_array_elements_text(doc) x WHERE grp = 5'),
  ('SELECT grp, x FROM posts, jsonb_array_elements_text(doc->''none'') x'),
  ('SELECT e->>''sku'', count(*), sum((e->>''n'')::int) FROM posts, jsonb_array_elements(doc->''items'') e GROUP BY 1'),
  ('SELECT count(*) FROM posts, jsonb_array_elements(doc->''items'') e'),
  ('SELECT e->>''sku'', count(*), sum((e->>''n'')::int) FROM posts, jsonb_path_query(doc, ''$.items[*] ? (@.n > 1)'') e GROUP BY 1'),
  ('SELECT jsonb_path_query(doc, ''$.labels[*]'') #>> ''{}'', count(*) FROM posts GROUP BY 1'),
  ('SELECT count(*), count(e->>''n'') FROM posts LEFT JOIN LATERAL jsonb_array_elements(doc->''items'') e ON true'),
  ('SELECT id, o, e->>''sku'', jsonb_typeof(e), e ? ''n'', e->''n'' = ''1'', e#>>''{deep,0}'' FROM posts, jsonb_array_elements(doc->''items'') WITH ORDINALITY u(e, o) WHERE id < 60'),
  ('SELECT id, e->>''sku'' IS NULL FROM posts LEFT JOIN LATERAL jsonb_array_elements(doc->''items'') e ON true WHERE id < 60'),
  ('SELECT e->>''sku'', count(*) FROM posts, jsonb_array_elements(doc->''items'') e WHERE e @> ''{"n": 2}'' AND grp < 5 GROUP BY 1'),
  ('SELECT a->>''sku'', b->>''sku'', count(*) FROM posts, jsonb_array_elements(doc->''items'') a, jsonb_array_elements(doc->''items'') b WHERE a->>''n'' < b->>''n'' GROUP BY 1, 2'),
  ('SELECT sku, count(*) FROM (SELECT jsonb_array_elements(doc->''items'')->>''sku'' AS sku, jsonb_array_elements(doc->''items'')->>''n'' AS n FROM posts) s WHERE n <> ''1'' GROUP BY 1'),
  ('SELECT jsonb_array_elements(doc->''items'')->>''sku'', unnest(tags), count(*) FROM posts WHERE grp = 4 GROUP BY 1, 2'),
  ('SELECT e->>''x'', count(*) FROM posts, jsonb_array_elements(doc->''labels'') e GROUP BY 1'),
  ('SELECT tag, count(*) FROM (SELECT unnest(tags) AS tag FROM posts) s GROUP BY tag'),
  ('SELECT tag || ''!'', count(*) FROM (SELECT lower(unnest(tags)) AS tag, grp + 1 AS g FROM posts) s WHERE g > 2 GROUP BY 1'),
  ('SELECT tag, n, sum(id) FROM (SELECT unnest(tags) AS tag, unnest(nums) AS n, id, grp FROM posts WHERE grp <> 4) s WHERE grp < 5 AND n IS NOT NULL GROUP BY 1, 2'),
  ('SELECT unnest(tags) AS tag, count(*) FROM posts GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 12'),
  ('SELECT upper(unnest(tags)), unnest(nums), count(*), sum(id) FROM posts WHERE grp > 6 GROUP BY 1, 2'),
  ('SELECT unnest(nums) + 1 AS n, count(*) FROM posts GROUP BY 1 HAVING count(*) > 3 ORDER BY 1'),
  ('SELECT unnest(nums), grp, count(*) FROM posts GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 9'),
  ('SELECT DISTINCT unnest(tags) FROM posts ORDER BY 1'),
  ('SELECT DISTINCT unnest(nums) AS n, grp FROM posts WHERE grp < 4'),
  ('SELECT count(*) FROM (SELECT DISTINCT unnest(nums) FROM posts) s'),
  ('SELECT x, meaning, count(*) FROM posts, unnest(tags) x JOIN words ON word = x GROUP BY 1, 2'),
  ('SELECT meaning, count(x) FROM words LEFT JOIN (posts CROSS JOIN unnest(tags) x) ON word = x GROUP BY 1'),
  ('SELECT x, count(*), sum(meaning) FROM posts JOIN words ON grp = meaning, unnest(posts.tags) x GROUP BY 1'),
  ('SELECT meaning, x, count(*) FROM words LEFT JOIN posts ON grp = meaning LEFT JOIN LATERAL unnest(posts.nums) x ON true GROUP BY 1, 2'),
  ('SELECT x, count(*) FROM posts, unnest(nums) x WHERE x = ANY (ARRAY[1, 2, 8]) AND grp IN (1, 2, 3) GROUP BY 1'),
  ('SELECT x, count(*) FROM posts, unnest(nums) x WHERE x > (SELECT min(meaning) FROM words) GROUP BY 1'),
  ('SELECT x, array_agg(id ORDER BY id) FROM posts, unnest(nums) x WHERE grp = 2 GROUP BY 1 ORDER BY 1'),
  ('SELECT id, x, row_number() OVER (PARTITION BY id ORDER BY o), sum(o) OVER (PARTITION BY id) FROM posts, unnest(tags) WITH ORDINALITY u(x, o) WHERE id < 99'),
  ('SELECT x, count(*) FROM posts, unnest(nums) x GROUP BY ROLLUP (x)'),
  ('WITH u AS (SELECT grp, x FROM posts, unnest(tags) x) SELECT a.x, count(*) FROM u a JOIN u b ON a.x = b.x AND a.grp = b.grp + 1 WHERE a.grp < 3 GROUP BY 1'),
  ('SELECT x FROM posts, unnest(tags) x WHERE id < 100 UNION SELECT word FROM words'),
  ('SELECT g, max(n) FROM (SELECT id, grp AS g, count(DISTINCT x) AS n FROM posts, unnest(tags) x GROUP BY id, grp) s GROUP BY g'),
  ('SELECT count(*) FROM posts WHERE grp IN (SELECT x FROM posts, unnest(nums) x WHERE x < 7)'),
  ('SELECT x / (x - 7) FROM posts, unnest(nums) x'),
  ('SELECT grp, count(*) FROM posts, unnest(ARRAY[1, 2]) x GROUP BY 1'),
  ('SELECT key, count(*), min(id) FROM posts, jsonb_each_text(doc) GROUP BY 1'),
  ('SELECT key, value, count(*) FROM posts, jsonb_each_text(doc) WHERE grp < 7 AND key <> ''items'' GROUP BY 1, 2'),
  ('SELECT count(*) FROM posts, jsonb_each_text(doc)'),
  ('SELECT count(value), count(DISTINCT value) FROM posts, jsonb_each_text(doc) AS e(key, value) WHERE key = ''n'''),
  ('SELECT id, k, v, o FROM posts, jsonb_each_text(doc) WITH ORDINALITY e(k, v, o) WHERE id < 60'),
  ('SELECT id, k, jsonb_typeof(v), v->>0, o FROM posts, jsonb_each(doc) WITH ORDINALITY e(k, v, o) WHERE id < 60'),
  ('SELECT key, jsonb_typeof(value), count(*) FROM posts, jsonb_each(doc) GROUP BY 1, 2'),
  ('SELECT key, count(*) FROM posts, jsonb_each(doc) WHERE value = ''1'' OR value @> ''[3]'' GROUP BY 1'),
  ('SELECT count(*) FROM posts, jsonb_each(doc)'),
  ('SELECT id, key, value->>0 FROM posts LEFT JOIN LATERAL jsonb_each(doc) ON true WHERE id < 40'),
  ('SELECT id, key, value FROM posts LEFT JOIN LATERAL jsonb_each_text(doc) ON true WHERE id < 40 ORDER BY 1, 2, 3'),
  ('SELECT k, count(*), sum(id) FROM posts, jsonb_object_keys(doc) k GROUP BY 1'),
  ('SELECT k, o, count(*) FROM posts, jsonb_object_keys(doc) WITH ORDINALITY u(k, o) WHERE grp = 2 GROUP BY 1, 2'),
  ('SELECT jsonb_object_keys(doc), count(*) FROM posts GROUP BY 1'),
  ('SELECT (jsonb_each_text(doc)).key, (jsonb_each_text(doc)).value, count(*) FROM posts WHERE grp > 6 GROUP BY 1, 2'),
  ('SELECT (jsonb_each(doc)).value->>0, count(*) FROM posts WHERE grp > 6 GROUP BY 1'),
  ('SELECT DISTINCT jsonb_object_keys(doc) FROM posts ORDER BY 1'),
  ('SELECT e.key, x->>''sku'', count(*) FROM posts, jsonb_each_text(doc) e, jsonb_array_elements(doc->''items'') x GROUP BY 1, 2'),
  ('SELECT key, meaning, count(*) FROM posts, jsonb_each_text(doc) e JOIN words ON word = ''t'' || value GROUP BY 1, 2'),
  ('SELECT key FROM posts, jsonb_each_text(doc->''labels'')'),
  ('SELECT key FROM posts, jsonb_each(doc->''n'')'),
  ('SELECT k FROM posts, jsonb_object_keys(doc->''labels'') k'),
  ('SELECT key, count(*) FROM posts, jsonb_each(doc->''none'') GROUP BY 1');
SELECT id, agree(q) FROM questions ORDER BY id;
SELECT penumbra.load('words'), penumbra.load('posts', ARRAY['id', 'grp', 'unnest(tags)', 'unnest(nums)', 'unnest(listed)',
  'jsonb_array_elements(doc->''items'')->>''sku''', 'jsonb_array_elements(doc->''items'')->>''n''', 'jsonb_typeof(jsonb_array_elements(doc->''items''))',
  'jsonb_array_elements_text(doc->''labels'')', 'jsonb_array_elements_text(doc)', 'jsonb_typeof(doc->''labels'')',
  'jsonb_object_keys(doc)', '(jsonb_each_text(doc)).value', '(jsonb_each(doc)).key', '(jsonb_each(doc)).value->>0']);
SELECT id, agree(q) FROM questions ORDER BY id;
SELECT column_name FROM penumbra.columns WHERE relname = 'posts' AND rows > 1400 ORDER BY 1;
SELECT sum(mismatches) FROM penumbra.verify('posts');

-- Rows that were written, then patched.
UPDATE posts SET tags = tags || 'new'::text, nums = '{9,9}' WHERE id % 100 = 9;
DELETE FROM posts WHERE id % 100 = 12;
INSERT INTO posts SELECT k, 3, '{in}', numbers(k), NULL, jsonb_build_object('labels', labels(k)) FROM generate_series(2000, 2050) k;
SELECT id, agree(q) FROM questions WHERE id % 4 = 1 ORDER BY id;
VACUUM posts;
SELECT penumbra.refresh('posts') > 0 AS refreshed;
SELECT id, agree(q) FROM questions WHERE id % 4 = 1 ORDER BY id;
SELECT sum(mismatches) FROM penumbra.verify('posts');

-- Elements of each type.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE typed WITH (autovacuum_enabled = off) AS SELECT i AS id, ARRAY[i % 2 = 0, NULL] AS bools, ARRAY[i % 9, NULL, 2]::int2[] AS int2s,
  ARRAY[i]::int8[] AS int8s, ARRAY['-0', i, 'NaN', NULL]::float4[] AS float4s, ARRAY['-0', i % 3, 'infinity']::float8[] AS float8s,
  ARRAY[i % 5, NULL, 1.500, 1e30, 'NaN']::numeric[] AS numerics, ARRAY[date '2024-02-28' + i % 4, 'infinity', NULL] AS dates,
  ARRAY[timestamp '2024-02-28' + i % 4 * interval '1 h'] AS stamps, ARRAY[NULL, timestamptz '2024-02-28' + i % 4 * interval '1 h'] AS zoned,
  ARRAY['1 mon', interval '1 s' * (i % 6), NULL]::interval[] AS spans, ARRAY['a', 'b' || i % 4]::varchar(9)[] AS varchars,
  ARRAY['a', NULL, 'b' || i % 4]::char(5)[] AS chars, ARRAY[md5((i % 9)::text), NULL]::uuid[] AS uuids, ARRAY[time '10:00' + i % 4 * interval '1 m'] AS times,
  ARRAY['10:00+02', NULL, '11:00+03']::timetz[] AS timetzs, ARRAY[i % 4, NULL]::money[] AS moneys, ARRAY['a', i::text, NULL]::bytea[] AS byteas,
  ARRAY['x', NULL]::"char"[] AS "chars1", ARRAY[i % 7, 4000000000, NULL]::oid[] AS oids, ARRAY['08:00:2b:01:02:03', NULL]::macaddr[] AS macs,
  ARRAY['08:00:2b:01:02:03:04:05']::macaddr8[] AS macs8, ARRAY['10.0.0.1/8', NULL, '::1']::inet[] AS inets, ARRAY['10.0.0.0/8']::cidr[] AS cidrs,
  ARRAY[B'101', NULL]::bit(3)[] AS bits, ARRAY[B'', (i % 9)::bit(70)]::varbit[] AS varbits, ARRAY['ok', NULL, 'sad']::mood[] AS moods,
  ARRAY[i % 4, NULL]::small[] AS smalls, ARRAY[point(i, i)] AS places, ARRAY['{}']::json[] AS jsons, ARRAY[int4range(1, 2 + i % 4), NULL, 'empty'] AS ranges
FROM generate_series(1, 700) i;
INSERT INTO typed (id) VALUES (0);
VACUUM ANALYZE typed;
CREATE FUNCTION answers(loaded boolean) RETURNS TABLE (name name, grouped text, listed text, ordered text) LANGUAGE sql AS $$
  SELECT attname, agree(format('SELECT x, count(*), min(id) FROM typed, unnest(%I) x GROUP BY x', attname)),
    agree(format('SELECT id, x, o FROM typed LEFT JOIN LATERAL unnest(%I) WITH ORDINALITY u(x, o) ON true WHERE id < 9', attname)),
    agree(format('SELECT id, x FROM (SELECT id, unnest(%I) AS x FROM typed) s ORDER BY x, id, x::text LIMIT 15', attname))
  FROM pg_attribute WHERE attrelid = 'typed'::regclass AND attnum > 1 AND attname NOT IN ('places', 'jsons') ORDER BY attnum $$;
SELECT * FROM answers(false) WHERE (grouped, listed, ordered)::text ~ 'DIFFERENT';
SELECT penumbra.load('typed', (SELECT array_agg(format('unnest(%I)', attname)) FROM pg_attribute
  WHERE attrelid = 'typed'::regclass AND attnum > 1 AND attname NOT IN ('places', 'jsons')) || '{id}') > 0 AS loaded;
SELECT * FROM answers(true);
-- the rows' own values beside their elements come from the heap
SELECT agree('SELECT tags, x FROM posts, unnest(tags) x');
SELECT agree('SELECT e->>''sku'', doc, nums FROM posts, jsonb_array_elements(doc->''items'') e WHERE grp = 3');

-- What EXPLAIN shows, and what is left to PostgreSQL.
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT x, count(*) FROM posts p, unnest(tags) x WHERE grp = 1 GROUP BY x;
EXPLAIN (COSTS OFF, VERBOSE) SELECT p.id, x, o FROM posts p LEFT JOIN LATERAL unnest(nums) WITH ORDINALITY u(x, o) ON true;
EXPLAIN (COSTS OFF) SELECT unnest(tags) AS tag, count(*) FROM posts GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT e->>'sku', count(*) FROM posts, jsonb_array_elements(doc->'items') e WHERE grp = 1 GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT key, value->>0, count(*) FROM posts, jsonb_each(doc) GROUP BY 1, 2;
CREATE FUNCTION reason(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
BEGIN
  EXECUTE query;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN detail;
END $$;
SELECT q, reason(q) FROM unnest(ARRAY[
  'SELECT x, count(*) FROM posts, unnest(pairs) x GROUP BY x',
  'SELECT x FROM typed, unnest(jsons) x', 'SELECT x FROM typed, unnest(places) x', 'SELECT x FROM posts, generate_series(1, grp) x',
  'SELECT grp, unnest(tags) FROM posts GROUP BY grp, tags', 'SELECT x FROM posts, ROWS FROM (unnest(tags), generate_series(1, 2)) u(x, y)',
  'SELECT e, count(*) FROM posts, jsonb_array_elements(doc->''items'') e GROUP BY 1',
  'SELECT key, value, count(*) FROM posts, jsonb_each(doc) GROUP BY 1, 2', 'SELECT x FROM posts, ROWS FROM (jsonb_each(doc), unnest(tags)) u(k, v, x)',
  'SELECT o, jsonb_typeof(e -> (o - 1)::int) FROM posts, jsonb_array_elements(doc->''items'') WITH ORDINALITY u(e, o)',
  'SELECT id FROM posts, jsonb_each(doc) WITH ORDINALITY u(k, v, o) WHERE v -> o::int = ''3''',
  'SELECT e IS NULL FROM posts LEFT JOIN LATERAL jsonb_array_elements(doc->''items'') e ON true',
  'SELECT count(*), count(x) FROM posts LEFT JOIN LATERAL unnest(nums) x ON x > 3',
  'SELECT tag FROM (SELECT unnest(tags) AS tag, id FROM posts ORDER BY id LIMIT 20) s',
  'SELECT count(*) FROM (SELECT unnest(tags), generate_series(1, 3) FROM posts) s',
  'SELECT DISTINCT ON (id) id, unnest(nums) FROM posts ORDER BY id']) q;
RESET penumbra.mode;
SELECT penumbra.load('posts', ARRAY['unnest(pairs)']) > 0 AS loaded;
SELECT agree('SELECT id, x, x.a FROM posts, unnest(pairs) x'), agree('SELECT unnest(pairs), count(*) FROM posts GROUP BY 1');
SELECT penumbra.load('posts', ARRAY['count(*)']);

-- Rights: of the column that the function reads. Rows that a policy hides.
CREATE ROLE unnest_reader;
GRANT SELECT (id, grp) ON posts TO unnest_reader;
SET ROLE unnest_reader;
SELECT x FROM posts, unnest(tags) x;
RESET ROLE;
GRANT SELECT ON posts TO unnest_reader;
ALTER TABLE posts ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON posts USING (grp = 3);
SET ROLE unnest_reader;
SET penumbra.mode = require;
SELECT count(*), count(DISTINCT grp) FROM posts, unnest(tags) x;
RESET penumbra.mode;
RESET ROLE;
DROP OWNED BY unnest_reader;
DROP ROLE unnest_reader;

-- Texts that are split: by unnest() of an array or by a function of their own, which have the same lists.
CREATE TABLE split (id int, csv text);
INSERT INTO split SELECT k, CASE k % 9 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN ',' WHEN 3 THEN 'none' ELSE 'a' || k % 4 || ',,none,long entry number ' || k % 50 || ';b,' || repeat('é', k % 30) END
FROM generate_series(1, 20000) k;
VACUUM ANALYZE split;
SELECT reason('SELECT x, count(*) FROM split, string_to_table(csv, '','') x GROUP BY x');
SELECT penumbra.load('split', ARRAY['id', 'csv', $$unnest(string_to_array(csv, ','))$$, $$string_to_table(csv, ',', 'none')$$, 'string_to_table(csv, NULL)', $$unnest(regexp_split_to_array(csv, '[,;]'))$$,
  $$regexp_split_to_table(csv, 'LONG|é', 'i')$$]) > 0 AS loaded;
SELECT agree(q) FROM (VALUES ('SELECT x, count(*), sum(id) FROM split, unnest(string_to_array(csv, '','')) x GROUP BY x'),
  ('SELECT x, count(*), sum(id) FROM split, string_to_table(csv, '','') x GROUP BY x'),
  ('SELECT id, x, o FROM split LEFT JOIN LATERAL string_to_table(csv, '','', ''none'') WITH ORDINALITY AS s(x, o) ON true WHERE id < 900'),
  ('SELECT string_to_table(csv, NULL), count(*) FROM split GROUP BY 1'),
  ('SELECT x, count(*) FROM split CROSS JOIN LATERAL regexp_split_to_table(csv, ''[,;]'') AS s(x) WHERE x <> '''' GROUP BY x'),
  ('SELECT regexp_split_to_table(csv, ''[,;]''), count(DISTINCT id) FROM split GROUP BY 1'),
  ('SELECT count(*), count(DISTINCT x) FROM (SELECT regexp_split_to_table(csv, ''LONG|é'', ''i'') x FROM split WHERE id % 3 = 0) s'),
  ('SELECT x, count(*) FROM (SELECT id, unnest(string_to_array(csv, '','')) x FROM split) s GROUP BY x')) questions (q);
-- Matches of patterns, which are arrays: what a query reads of them is cached.
SELECT penumbra.load('split', ARRAY['id', 'csv', $$(regexp_matches(csv, '([a-z])(\d+)?', 'g'))[1]$$, $$(regexp_matches(csv, '([a-z])(\d+)?', 'g'))[2]$$,
  $$cardinality(regexp_matches(csv, '([a-z])(\d+)?', 'g'))$$, $$(regexp_matches(csv, 'entry number (\d)'))[1]$$, $$(regexp_matches(csv, 'É|e\M', 'gi'))[1]$$, $$(regexp_matches(csv, '', 'g'))[1]$$,
  $$cardinality(regexp_matches(csv, '', 'g'))$$]) > 0 AS loaded;
CREATE TABLE matched (q text, id serial);
INSERT INTO matched (q) VALUES
  ($$SELECT (regexp_matches(csv, '([a-z])(\d+)?', 'g'))[1] AS x, count(*), sum(id) FROM split GROUP BY 1$$),
  ($$SELECT x, y, count(*) FROM (SELECT (regexp_matches(csv, '([a-z])(\d+)?', 'g'))[1] AS x, (regexp_matches(csv, '([a-z])(\d+)?', 'g'))[2] AS y FROM split) s GROUP BY 1, 2$$),
  ($$SELECT m[1], m[2], count(*), sum(id) FROM split, regexp_matches(csv, '([a-z])(\d+)?', 'g') m GROUP BY 1, 2$$),
  ($$SELECT upper(m[1]), o, count(m[2]) FROM split CROSS JOIN LATERAL regexp_matches(csv, '([a-z])(\d+)?', 'g') WITH ORDINALITY AS r(m, o) WHERE m[1] > 'c' OR m[2] IS NULL GROUP BY 1, 2$$),
  ($$SELECT id, m[1], o FROM split LEFT JOIN LATERAL regexp_matches(csv, '([a-z])(\d+)?', 'g') WITH ORDINALITY AS r(m, o) ON true WHERE id < 200$$),
  ($$SELECT count(*) FROM split, regexp_matches(csv, '([a-z])(\d+)?', 'g') m$$),
  ($$SELECT cardinality(m), max(id) FROM split, regexp_matches(csv, '([a-z])(\d+)?', 'g') m GROUP BY 1$$),
  ($$SELECT m[1], count(*) FROM split, regexp_matches(csv, 'entry number (\d)') AS m GROUP BY 1$$),
  ($$SELECT (regexp_matches(csv, 'É|e\M', 'gi'))[1], count(*) FROM split GROUP BY 1$$),
  ($$SELECT count(*), count(DISTINCT m[1]) FROM split, regexp_matches(csv, '', 'g') AS m$$),
  ($$SELECT m[2]::int % 3, count(*) FROM split, regexp_matches(csv, '([a-z])(\d+)?', 'g') m WHERE m[2] IS NOT NULL GROUP BY 1$$),
  ($$SELECT a.m[1], b.m[1], count(*) FROM split, regexp_matches(csv, '([a-z])(\d+)?', 'g') a(m), regexp_matches(csv, 'entry number (\d)') b(m) GROUP BY 1, 2$$),
  ($$SELECT w.id, m[1], count(*) FROM split w JOIN (SELECT id, m FROM split, regexp_matches(csv, '([a-z])(\d+)?', 'g') m) s ON w.id = s.id WHERE w.id < 90 GROUP BY 1, 2$$);
SELECT id, agree(q) FROM matched ORDER BY id;
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT m[1], count(*) FROM split, regexp_matches(csv, '([a-z])(\d+)?', 'g') m WHERE m[2] > '3' GROUP BY 1;
-- arrays that are read whole, what is not cached, patterns that differ by row
EXPLAIN (COSTS OFF) SELECT m, count(*) FROM split, regexp_matches(csv, '([a-z])(\d+)?', 'g') m GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT m[3], count(*) FROM split, regexp_matches(csv, '([a-z])(\d+)?', 'g') m GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT m[1], count(*) FROM split, regexp_matches(csv, id::text) m GROUP BY 1;
RESET penumbra.mode;
SELECT penumbra.load('split', ARRAY[$$(regexp_matches(csv, '(', 'g'))[1]$$]);
SELECT penumbra.load('split', ARRAY[$$(regexp_matches(csv, 'a', 'g!'))[1]$$]);
SELECT penumbra.load('split', ARRAY[$$regexp_matches(csv, 'a', 'g')$$]);

UPDATE split SET csv = 'changed,' || id WHERE id % 700 = 0;
SELECT agree('SELECT x, count(*), sum(id) FROM split, string_to_table(csv, '','') x GROUP BY x');
SELECT id, agree(q) FROM matched WHERE id < 7 ORDER BY id;
VACUUM split;
SELECT penumbra.refresh('split') > 0 AS refreshed;
SELECT id, agree(q) FROM matched WHERE id < 7 ORDER BY id;
SELECT sum(mismatches) FROM penumbra.verify('split');
SELECT penumbra.load('split', ARRAY[$$regexp_split_to_table(csv, ',', 'g')$$]);
DROP TABLE split, matched;

-- Documents that are read whole, of all kinds; in the last row two that have no image.
CREATE TABLE whole AS SELECT k AS id, labels(k) AS doc, jsonb_build_object('o', jsonb_build_object('a', k % 4, 'b', labels(k))) AS object
FROM generate_series(1, 2000) k;
VACUUM ANALYZE whole;
SELECT penumbra.load('whole', ARRAY['jsonb_array_elements(doc)', $$(jsonb_each(object->'o')).value$$, $$(jsonb_each(object->'o')).key$$,
  $$jsonb_array_elements(doc)->'k'$$, 'id']);
SELECT agree('SELECT e, count(*), min(id) FROM whole, jsonb_array_elements(doc) e GROUP BY e');
SELECT agree('SELECT id, e, n FROM whole LEFT JOIN LATERAL jsonb_array_elements(doc) WITH ORDINALITY u(e, n) ON true WHERE id < 50');
SELECT agree('SELECT id FROM whole, jsonb_array_elements(doc) e WHERE e > ''"a"'' OR e = ''1.5''');
SELECT agree('SELECT key, value, count(*) FROM whole, jsonb_each(object->''o'') GROUP BY 1, 2');
SELECT agree('SELECT e->''k'', count(DISTINCT e) FROM whole, jsonb_array_elements(doc) e GROUP BY 1');
SELECT agree('SELECT jsonb_array_elements(doc) AS e, sum(id) FROM whole GROUP BY 1');
INSERT INTO whole VALUES (2001, '[[1, 2, 3, 4, 5.10]]', '{"o": {"a": [1, 2, 3, 4, 5.10]}}');
VACUUM whole;
SELECT penumbra.refresh('whole') > 0 AS refreshed;
SELECT agree('SELECT e, count(*), min(id) FROM whole, jsonb_array_elements(doc) e GROUP BY e');
SELECT agree('SELECT key, value, count(*) FROM whole, jsonb_each(object->''o'') WHERE id < 900 GROUP BY 1, 2');
SELECT sum(mismatches) FROM penumbra.verify('whole');
DROP TABLE whole;

-- Arrays of documents and of ranges, and multiranges.
CREATE TABLE composed AS SELECT k AS id, ARRAY[jsonb_build_object('k', k % 7, 'n', k::numeric / 10), CASE WHEN k % 5 > 0 THEN to_jsonb(k % 3) END] AS docs,
  CASE WHEN k % 9 > 0 THEN int4multirange(int4range(k % 10, k % 10 + 2), int4range(20 + k % 3, 25)) WHEN k % 2 = 0 THEN '{}' END AS m,
  ARRAY[daterange('2020-01-01'::date + k % 5, NULL), 'empty', NULL] AS rs FROM generate_series(1, 5000) k;
VACUUM ANALYZE composed;
SELECT penumbra.load('composed');
SELECT penumbra.load('composed', ARRAY['unnest(docs)', $$unnest(docs)->>'k'$$, $$unnest(docs)->>'n'$$, 'unnest(m)', 'unnest(rs)']);
SELECT agree('SELECT e, count(*) FROM composed, unnest(docs) e GROUP BY e');
SELECT agree('SELECT e->>''k'', count(*), sum((e->>''n'')::numeric) FROM composed, unnest(docs) e GROUP BY 1');
SELECT agree('SELECT r, count(*), sum(upper(r)) FROM composed, unnest(m) r WHERE r @> 3 OR r @> 24 GROUP BY r');
SELECT agree('SELECT unnest(m) AS r, count(*) FROM composed GROUP BY 1');
SELECT agree('SELECT r, n, min(id) FROM composed, unnest(rs) WITH ORDINALITY u(r, n) GROUP BY r, n');
SELECT sum(mismatches) FROM penumbra.verify('composed');
DROP TABLE composed;

-- Partitions, of which one has its columns in another order.
CREATE TABLE parted (id int, tags text[]) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (1000);
CREATE TABLE parted_2 (gone int, tags text[], id int);
ALTER TABLE parted_2 DROP gone;
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES FROM (1000) TO (2000);
INSERT INTO parted SELECT k, ARRAY['p' || k % 9, NULL] FROM generate_series(1, 1999) k;
VACUUM ANALYZE parted;
SELECT penumbra.load('parted', ARRAY['unnest(tags)', 'id']);
SELECT agree('SELECT x, count(*), sum(id) FROM parted, unnest(tags) x GROUP BY x');
SELECT agree('SELECT x, count(*) FROM (SELECT unnest(tags) AS x FROM parted WHERE id > 900) s GROUP BY x');
DROP TABLE parted, typed, posts, words, questions;
DROP TYPE pair, mood;
DROP DOMAIN int_list, small;
DROP FUNCTION numbers, labels, items, answers, reason, agree, rows_of;
