-- Lookups through access methods: as many entries as the table has rows for the keys.
CREATE EXTENSION penumbra_bench;
SET search_path = public, penumbra_bench;
CREATE TABLE items (id int, code text, at timestamptz, small varchar(20), u uuid);
INSERT INTO items
SELECT i, 'code ' || i % 100, timestamptz '2026-01-01' + i * interval '1 s', 's' || i, md5(i::text)::uuid
FROM generate_series(1, 10000) i;
CREATE INDEX items_id ON items (id);
CREATE INDEX items_id_hash ON items USING hash (id);
CREATE INDEX items_code ON items (code, id);
CREATE INDEX items_at ON items (at);
CREATE INDEX items_small ON items (small);
CREATE INDEX items_u ON items (u);
CREATE INDEX items_partial ON items (id) WHERE id % 10 = 0;
CREATE INDEX items_expression ON items ((id * 2));
VACUUM ANALYZE items;

SELECT executions, rows, ns_per_execution > 0 AS took_time, read_only
FROM index_lookup_loop('items_id', 6, ARRAY[1, 2, 20000]);
SELECT rows FROM index_lookup_loop('items_code', 4, ARRAY['code 1', 'no']);
SELECT rows FROM index_lookup_loop('items_small', 4, ARRAY['s1', 's2']::varchar[]);
SELECT rows FROM index_lookup_loop('items_small', 4, ARRAY['s1', 's2']::text[]);
SELECT rows FROM index_lookup_loop('items_id', 4, ARRAY[1, 2]::bigint[]);
SELECT rows FROM index_lookup_loop('items_id_hash', 4, ARRAY[1, 2]::smallint[]);
SELECT rows FROM index_lookup_loop('items_expression', 4, ARRAY[2, 3]);
SELECT rows FROM index_lookup_loop('items_u', 2, ARRAY[md5('1')::uuid]);

-- every key once, in each access method and way of fetching: all rows, the same places
SELECT index, kind, rows, checksum = first_value(checksum) OVER (ORDER BY index, kind) AS same
FROM (VALUES ('items_id'), ('items_id_hash')) i(index), (VALUES ('tid'), ('heap')) f(kind),
    LATERAL index_lookup_loop(index::regclass, 10000, (SELECT array_agg(id) FROM items), kind)
ORDER BY index, kind;
SELECT t.checksum = i.checksum AS same, t.rows
FROM index_lookup_loop('items_code', 100, (SELECT array_agg(DISTINCT code) FROM items), 'tuple') t,
    index_lookup_loop('items_code', 100, (SELECT array_agg(DISTINCT code) FROM items), 'tid') i;

-- random keys exist, and are the same for the same seed
SELECT index, rows FROM unnest('{items_id,items_id_hash,items_at,items_small,items_u,items_partial,items_expression}'::text[]) index,
    index_random_lookup_loop(index::regclass, 500, 100);
SELECT a.checksum = b.checksum AS same_seed, a.checksum = c.checksum AS other_seed
FROM index_random_lookup_loop('items_id', 300, 300) a, index_random_lookup_loop('items_id', 300, 300) b,
    index_random_lookup_loop('items_id', 300, 300, seed => 2) c;
-- fewer keys than asked for: all of them, each as often
SELECT a.rows, a.checksum = b.checksum AS each_once
FROM index_random_lookup_loop('items_id', 10000, 1000000) a,
    index_lookup_loop('items_id', 10000, (SELECT array_agg(id) FROM items)) b;

-- rows that are gone: their entries stay until vacuum, the heap says so
DELETE FROM items WHERE id <= 5000;
SELECT rows FROM index_lookup_loop('items_id', 1, ARRAY[1]);
SELECT rows FROM index_lookup_loop('items_id', 1, ARRAY[1], 'heap');
SELECT rows FROM index_lookup_loop('items_id', 1, ARRAY[5001], 'heap');

-- errors
CREATE INDEX items_brin ON items USING brin (id);
CREATE TABLE parts (id int) PARTITION BY RANGE (id);
CREATE INDEX parts_id ON parts (id);
CREATE TABLE empty (id int);
CREATE INDEX empty_id ON empty (id);
CREATE TABLE boxes (b box);
CREATE INDEX boxes_b ON boxes USING gist (b);
CREATE FUNCTION failure(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN query_canceled OR OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN concat_ws(': ', SQLSTATE, SQLERRM, nullif(detail, ''));
END $$;
SELECT failure($q$SELECT index_lookup_loop(NULL, 1, ARRAY[1])$q$);
SELECT failure($q$SELECT index_lookup_loop('items_id', NULL, ARRAY[1])$q$);
SELECT failure($q$SELECT index_lookup_loop('items_id', 0, ARRAY[1])$q$);
SELECT failure($q$SELECT index_lookup_loop('items_id', 1, NULL::int[])$q$);
SELECT failure($q$SELECT index_lookup_loop('items_id', 1, '{}'::int[])$q$);
SELECT failure($q$SELECT index_lookup_loop('items_id', 1, '{NULL}'::int[])$q$);
SELECT failure($q$SELECT index_lookup_loop('items_id', 1, ARRAY['a'])$q$);
SELECT failure($q$SELECT index_lookup_loop('items_id', 1, ARRAY[1], 'all')$q$);
SELECT failure($q$SELECT index_lookup_loop('items_id', 1, ARRAY[1], NULL)$q$);
SELECT failure($q$SELECT index_lookup_loop('items', 1, ARRAY[1])$q$);
SELECT failure($q$SELECT index_lookup_loop('missing', 1, ARRAY[1])$q$);
SELECT failure($q$SELECT index_lookup_loop(0, 1, ARRAY[1])$q$);
SELECT failure($q$SELECT index_lookup_loop('items_brin', 1, ARRAY[1])$q$);
SELECT failure($q$SELECT index_lookup_loop('items_id_hash', 1, ARRAY[1], 'tuple')$q$);
SELECT failure($q$SELECT index_lookup_loop('parts_id', 1, ARRAY[1])$q$);
SELECT failure($q$SELECT index_lookup_loop('boxes_b', 1, ARRAY[1])$q$);
SELECT failure($q$SELECT index_random_lookup_loop('empty_id', 1)$q$);
SELECT failure($q$SELECT index_random_lookup_loop('items_id', 1, 0)$q$);
SELECT failure($q$SELECT index_random_lookup_loop('items_id', 1, NULL)$q$);
SELECT failure($q$SELECT index_random_lookup_loop('items_id', 1, 1, seed => NULL)$q$);
SELECT failure($q$SELECT index_random_lookup_loop('items', 1)$q$);

-- cancelled between lookups
SET statement_timeout = '100ms';
SELECT failure($q$SELECT index_lookup_loop('items_id', 1000000000000, ARRAY[1])$q$);
SELECT failure($q$SELECT index_lookup_loop('items_code', 1000000000000, ARRAY['code 1'], 'heap')$q$);
RESET statement_timeout;
SELECT rows FROM index_lookup_loop('items_id', 1, ARRAY[6000]);
