-- Pages that CREATE TABLE AS fills itself are those that PostgreSQL's insertion makes.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE EXTENSION pageinspect;
CREATE EXTENSION amcheck;
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE source AS
SELECT i AS id, (i % 7)::int2 AS s, CASE WHEN i % 5 > 0 THEN i * 1.5 END::numeric AS n, repeat('x', i % 300) AS plain,
       CASE WHEN i % 3 > 0 THEN 'y' || i END AS t, i % 2 = 0 AS b, i::float4 AS f, i::float8 AS d, md5(i::text)::uuid AS u,
       ('k' || i % 5)::char(9) AS c, date '2020-01-01' + i AS day, 'a'::"char" AS ch, name 'abc' AS name,
       timestamptz '2020-01-01 UTC' + i * interval '1 s' AS ts, i * interval '1 day' AS span, ARRAY[i, NULL, i + 1] AS list,
       jsonb_build_object('a', i) AS doc
FROM generate_series(1, 3000) i;
ALTER TABLE source ALTER plain SET STORAGE PLAIN;
CREATE TABLE wide AS SELECT i AS id, CASE i % 1000 WHEN 999 THEN repeat(md5(i::text), 400) WHEN 998 THEN repeat('z', 3000) END AS t
FROM generate_series(1, 3000) i;
ALTER TABLE wide ALTER t SET STORAGE EXTERNAL;
VACUUM ANALYZE source, wide;
SELECT count(penumbra.load(c)) FROM unnest('{source, wide}'::regclass[]) c;

-- Made by PostgreSQL and in vectors: how many rows and pages; those that are alike in place, header and bytes (but for the
-- number of the command and the hint that the transaction ended); those in order by the table's own statistics; damage.
CREATE FUNCTION compare(kind text, options text, query text,
                        OUT pages int, OUT rows int, OUT like_pages int, OUT like_rows int, OUT counted bigint, OUT damage text)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('penumbra.mode', 'off', true);
    EXECUTE format('CREATE %s TABLE theirs %s AS %s', kind, options, query);
    PERFORM set_config('penumbra.mode', 'require', true);
    EXECUTE format('CREATE %s TABLE ours %s AS %s', kind, options, query);
    PERFORM set_config('penumbra.mode', 'off', true);
    SELECT count(*), count(*) FILTER (WHERE row(a.flags, a.lower, a.upper, a.special) = row(b.flags, b.lower, b.upper, b.special))
    INTO pages, like_pages
    FROM generate_series(0, pg_relation_size('ours')::int / current_setting('block_size')::int - 1) page,
         page_header(get_raw_page('ours', page)) a, page_header(get_raw_page('theirs', page)) b;
    WITH items AS (
        SELECT name, page, lp, row(lp_off, lp_flags, lp_len, t_xmin, t_xmax, t_infomask & ~256, t_infomask2, t_hoff, t_ctid, t_bits,
                                   t_data) AS item
        FROM unnest('{ours, theirs}'::text[]) name,
             generate_series(0, pg_relation_size(name)::int / current_setting('block_size')::int - 1) page,
             heap_page_items(get_raw_page(name, page)))
    SELECT count(*), count(*) FILTER (WHERE a.item IS NOT DISTINCT FROM b.item) INTO rows, like_rows
    FROM (SELECT * FROM items WHERE name = 'ours') a FULL JOIN (SELECT * FROM items WHERE name = 'theirs') b USING (page, lp);
    SELECT n_tup_ins INTO counted FROM pg_stat_xact_user_tables WHERE relid = 'ours'::regclass;
    SELECT string_agg(msg, '; ') INTO damage FROM verify_heapam('ours');
    DROP TABLE ours, theirs;
END $$;
SELECT kind, options, (compare(kind, options, 'SELECT * FROM source WHERE id > 0 ORDER BY id')).*
FROM unnest('{"", UNLOGGED, TEMP}'::text[]) kind, unnest('{"", WITH (fillfactor = 60)}'::text[]) options;
-- one row, none, no column, tuples at the limit
SELECT (compare('', '', 'SELECT id, t FROM source WHERE id = 7')).*;
SELECT (compare('', '', 'SELECT id, t FROM source WHERE id < 0')).*;
SELECT (compare('TEMP', '', 'SELECT FROM source WHERE id < 1000')).*;
SELECT bytes, (compare('TEMP', '', format('SELECT id, repeat(%L, %s) FROM source WHERE id < 20 ORDER BY id', 'x', bytes))).*
FROM generate_series(1996, 2004) bytes;
-- From the first row that has to be toasted on rows are inserted: what follows is on the same page.
CREATE TABLE toasted AS SELECT * FROM wide WHERE id > 0 ORDER BY id;
SELECT (SELECT sum(hashtextextended(r::text, 0)) FROM wide r) = (SELECT sum(hashtextextended(r::text, 0)) FROM toasted r) AS is_alike,
       (SELECT count(DISTINCT split_part(ctid::text, ',', 1)) FROM toasted WHERE id BETWEEN 997 AND 1000) AS pages,
       (SELECT string_agg(msg, '; ') FROM verify_heapam('toasted')) AS damage;
-- rows that do not fit on a page
DO $$
BEGIN
    EXECUTE 'CREATE TEMP TABLE large AS SELECT ' || (SELECT string_agg(format('u AS u%s', i), ', ') FROM generate_series(1, 600) i)
         || ' FROM source WHERE id < 10 ORDER BY id';
EXCEPTION WHEN program_limit_exceeded THEN
    RAISE WARNING USING MESSAGE = SQLERRM;
END $$;
-- a table that is given up with its savepoint, and one that is changed in its own transaction
BEGIN;
SAVEPOINT s;
CREATE TABLE made AS SELECT id, n FROM source WHERE id > 0;
ROLLBACK TO s;
CREATE TABLE made AS SELECT id, n FROM source WHERE id > 1000;
UPDATE made SET n = 0 WHERE id <= 2000;
INSERT INTO made VALUES (1, 1);
CREATE INDEX ON made (id);
COMMIT;
VACUUM made;
SELECT count(*), sum(n), count(*) FILTER (WHERE n = 0) FROM made;
SELECT string_agg(msg, '; ') FROM verify_heapam('made');
DROP TABLE source, wide, toasted, made;
DROP FUNCTION compare;
DROP EXTENSION pageinspect, amcheck;
