-- PostgreSQL's own types without an image of their own are cached as bytes, and PostgreSQL compares each distinct value
-- once.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE SCHEMA other_types;
SET search_path = other_types;

\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text := agree(query, 'prefer');
  line text;
  how text := 'PostgreSQL';
BEGIN
  IF result !~ '^\d+ rows$' THEN
    RETURN result;
  END IF;
  PERFORM set_config('penumbra.mode', 'prefer', true);
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    how := coalesce(substring(line FROM 'Custom Scan \((Penumbra [^)]*)\)'), how);
    EXIT WHEN line ~ 'Custom Scan' OR line !~ '^Result|Subquery';
  END LOOP;
  RETURN how || ': ' || result;
END $$;

-- Each type with some of its values, equal ones that are written differently among them; NULL.
-- Arrays and ranges of such, and of other types that are compared otherwise than by their bytes.
CREATE TYPE patterned AS RANGE (subtype = text, subtype_opclass = text_pattern_ops);
CREATE DOMAIN words AS tsvector;
CREATE TABLE kinds (kind text, samples text[]);
INSERT INTO kinds VALUES
  ('tsvector', ARRAY['''a'':1 ''b'':2', 'fat cat', 'cat fat', '', '''cat'':3A']), ('words', ARRAY['a b c', 'b', 'c:1']),
  ('tsquery', ARRAY['a & b', 'b & a', '!a', 'a <-> b', 'a | b:*']), ('oidvector', ARRAY['1 2', '2 1', '', '1 2 3']),
  ('tid', ARRAY['(0,1)', '(1,0)', '(4294967295,65535)']), ('xid', ARRAY['3', '4', '4294967295']), ('cid', ARRAY['0', '7', '4294967295']),
  ('aclitem', ARRAY['=r/postgres', 'postgres=rw/postgres', '=/postgres']),
  ('interval[]', ARRAY['{1 mon,30 days}', '{30 days,1 mon}', '{}', '{NULL}', '{24:00:00}', '{1 day}']),
  ('char(4)[]', ARRAY['{a,b}', '{"a  ",b}', '{}', '{NULL,b}']), ('jsonb[]', ARRAY['{"{\"a\": 1}","[1, 2]"}', '{"{\"a\": 1.0}","[1, 2]"}', '{}', '{NULL,null}', '{1}']),
  ('tsvector[]', ARRAY['{a,b}', '{b,a}', '{NULL}']), ('oidvector[]', ARRAY['{1 2,3}', '{}']), ('xid[]', ARRAY['{1,2}', '{2,1}']),
  ('tid[]', ARRAY['{"(0,1)"}', '{"(0,2)","(0,1)"}']), ('patterned', ARRAY['[a,b]', '(a,b]', 'empty', '[B,a)']),
  ('name[]', ARRAY['{a,b}', '{b}']), ('macaddr8[]', ARRAY['{08:00:2b:01:02:03:04:05}', '{}']), ('pg_lsn[]', ARRAY['{0/1,1/0}', '{FFFFFFFF/0}']),
  ('uuid[]', ARRAY['{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', '{}']), ('"char"[]', ARRAY['{a,b}', '{b}']), ('int4range[]', ARRAY['{"[1,2)"}', '{"[1,3)",empty}']),
  ('int4multirange[]', ARRAY['{"{[1,2),[4,5)}"}', '{"{}"}']), ('xid8[]', ARRAY['{1,18446744073709551615}', '{}']), ('bit(3)[]', ARRAY['{101,110}', '{}']);
CREATE FUNCTION make_tables() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  k kinds;
BEGIN
  FOR k IN SELECT * FROM kinds LOOP
    EXECUTE format('CREATE TABLE %I AS SELECT g AS id, (%L::text[])[1 + g %% (1 + cardinality(%2$L::text[]))]::%s AS v FROM generate_series(1, 240) g', 't_' || k.kind, k.samples, k.kind);
    EXECUTE format('ANALYZE %I', 't_' || k.kind);
  END LOOP;
END $$;
SELECT make_tables();
SELECT kind, penumbra.load(format('%I', 't_' || kind)::regclass, ARRAY['id', 'v']) > 0 AS is_loaded FROM kinds ORDER BY kind COLLATE "C";

-- Groups, distinct values, joins, comparisons.  Which of equal values a group shows may differ: it is not shown.
SELECT kind, same(format('SELECT count(*), min(id), max(id) FROM %I GROUP BY v', 't_' || kind)) AS groups,
  same(format('SELECT count(v), count(DISTINCT v) FROM %I', 't_' || kind)) AS counts,
  same(format('SELECT a.id, b.id FROM %I a JOIN %1$I b USING (v) WHERE a.id < 9', 't_' || kind)) AS joins,
  same(format('SELECT id FROM %I WHERE v = %L', 't_' || kind, samples[1])) AS equal,
  same(format('SELECT id, v FROM %I WHERE v IS NOT NULL AND id %% 7 = 0', 't_' || kind)) AS shown
FROM kinds ORDER BY kind COLLATE "C";
SELECT kind, same(format('SELECT row_number() OVER (PARTITION BY v ORDER BY id), id FROM %I', 't_' || kind)) AS windows,
  same(format('SELECT id FROM %I WHERE v IN (%L, %L)', 't_' || kind, samples[1], samples[2])) AS lists,
  same(format('SELECT id, rank() OVER (ORDER BY v) FROM %I WHERE id %% 11 = 0', 't_' || kind)) AS ordered
FROM kinds WHERE kind NOT IN ('xid', 'cid', 'aclitem', 'xid[]') ORDER BY kind COLLATE "C";

-- A query is asked once for each distinct document.
SELECT q, same(format('SELECT count(*), min(id) FROM t_tsvector WHERE v @@ %L::tsquery', q)) FROM unnest('{fat & cat,a | cat,!a,b:*}'::text[]) q;
SELECT same('SELECT v @@ to_tsquery(''simple'', ''cat''), count(*) FROM t_words GROUP BY 1');
SELECT same('SELECT length(v), sum(id) FROM t_tsvector GROUP BY 1');

DROP SCHEMA other_types CASCADE;
