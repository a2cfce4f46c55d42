-- Sorts of more than work_mem go to disk, in the order and with the rows of PostgreSQL's executor.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE SCHEMA spilled_sorts;
SET search_path = spilled_sorts;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET jit = off;

CREATE TABLE many (id int, even boolean, small int2, day date, amount numeric, ratio float8, name text, code char(8),
                   tag uuid, span interval, long text);
INSERT INTO many
  SELECT i, i % 2 = 0, i % 300 - 150, date '2000-01-01' + i % 1000,
         CASE i % 50 WHEN 0 THEN 'NaN' WHEN 1 THEN NULL WHEN 2 THEN 12345678901234567890.123 + i
                     ELSE (i * 7919 % 1000) / 100.0 END,
         CASE i % 40 WHEN 0 THEN 'NaN' WHEN 1 THEN '-Infinity' WHEN 2 THEN NULL WHEN 3 THEN '-0' ELSE i * 37 % 512 / 8.0 END,
         CASE WHEN i % 30 > 0 THEN 'a name that begins alike ' || i * 7919 % 5000 END, chr(97 + i % 26) || i % 10,
         md5((i % 500)::text)::uuid, make_interval(days => i % 90, hours => i % 50),
         repeat(chr(97 + i % 26), i % 400)
  FROM generate_series(1, 8000) i;
VACUUM ANALYZE many;
SELECT penumbra.load('many') > 0 AS loaded;
-- rows that come from the heap
UPDATE many SET small = NULL WHERE id % 3000 = 0;

-- The rows in their order; the ids at the keys' end make it one.
CREATE FUNCTION ordered(query text, mode text) RETURNS TABLE (rows bigint, md5 text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('penumbra.mode', mode, true);
  EXECUTE 'CREATE TEMP TABLE result AS WITH q AS MATERIALIZED (' || query || ')
    SELECT row_number() OVER () AS n, q::text AS line FROM q';
  PERFORM set_config('penumbra.mode', 'off', true);
  RETURN QUERY SELECT count(*), pg_catalog.md5(string_agg(line, E'\n' ORDER BY n)) FROM result;
  DROP TABLE result;
END $$;
-- EXPLAIN ANALYZE says of the sort itself that it did.
CREATE FUNCTION spills(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  line text;
  plan text := '';
BEGIN
  PERFORM set_config('penumbra.mode', 'require', true);
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' || query LOOP
    plan := plan || line || E'\n';
  END LOOP;
  RETURN plan ~ 'Vector (Sort|Top-N)[^>]* (spilled=|Spilled: )[1-9]';
END $$;

CREATE TABLE queries (n serial, query text);
INSERT INTO queries (query)
  SELECT format('SELECT * FROM many ORDER BY %s %s, id', key, direction)
  FROM unnest('{even,small,day,amount,ratio,name,code,tag,span,long,amount * 2}'::text[]) key,
       unnest('{ASC NULLS FIRST,DESC NULLS LAST}'::text[]) direction;
INSERT INTO queries (query) VALUES
  ('SELECT * FROM many ORDER BY small DESC, amount NULLS FIRST, name DESC, id'),
  ('SELECT long, id FROM many WHERE id % 3 > 0 ORDER BY day, code DESC, id DESC'),
  ('SELECT name, sum(amount), min(id) FROM many WHERE amount <> ''NaN'' GROUP BY name, small ORDER BY 2, 3'),
  ('SELECT a.id, b.long FROM many a JOIN many b ON a.id = b.id + 1 ORDER BY b.long DESC, a.id');
SELECT query FROM queries WHERE NOT spills(query) ORDER BY n;
SELECT query, o.rows FROM queries, LATERAL ordered(query, 'require') o, LATERAL ordered(query, 'off') p
  WHERE o IS DISTINCT FROM p ORDER BY n;

-- the first rows
SELECT spills('SELECT * FROM many ORDER BY long DESC, id LIMIT 3000 OFFSET 10');
SELECT ordered('SELECT * FROM many ORDER BY long DESC, id LIMIT 3000 OFFSET 10', 'require')
     = ordered('SELECT * FROM many ORDER BY long DESC, id LIMIT 3000 OFFSET 10', 'off') AS same;
SELECT spills('SELECT * FROM many ORDER BY long DESC, id LIMIT 10');

-- a value larger than the budget
CREATE TABLE giant AS SELECT i AS id, CASE WHEN i % 300 = 7 THEN repeat('x', 3000000) || i ELSE i::text END AS value
  FROM generate_series(1, 1000) i;
VACUUM ANALYZE giant;
SELECT ordered('SELECT * FROM giant ORDER BY value DESC, id', 'prefer')
     = ordered('SELECT * FROM giant ORDER BY value DESC, id', 'off') AS same;

-- a sort for the disk is a matter of price, not refused: beside PostgreSQL's it is the cheaper one
SET penumbra.mode = auto;
EXPLAIN (COSTS OFF) SELECT * FROM many ORDER BY amount, id;

DROP SCHEMA spilled_sorts CASCADE;
