-- What installing the access method does to plans, and operator families to each other.
CREATE TABLE x (i2 int2, i4 int4, i8 int8, d date, ts timestamp, tz timestamptz, u uuid);
CREATE TABLE y (LIKE x);
CREATE TABLE z (LIKE x);
INSERT INTO x SELECT i % 100, i, i, date '2020-01-01' + i % 100, timestamp '2020-01-01' + i * interval '1 hour', '2020-01-01', md5(i::text)::uuid
    FROM generate_series(1, 1000) i;
INSERT INTO y SELECT * FROM x;
INSERT INTO z SELECT * FROM x;
CREATE INDEX ON x (i8);
CREATE UNIQUE INDEX ON y (i4);
CREATE INDEX ON y (ts);
ANALYZE x, y, z;
SET enable_seqscan = on;

CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plan text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP plan := plan || line || E'\n'; END LOOP;
    RETURN plan;
END $$;
CREATE TABLE plans AS SELECT query, plan_of(query) AS before FROM unnest(ARRAY[
    'SELECT * FROM x, y, z WHERE z.i4 = y.i4 AND y.i4 = x.i8 AND z.i4 = 7',
    'SELECT * FROM x, y, z WHERE z.i2 = y.i4 AND y.i4 = x.i8 AND z.i2 = 7',
    'SELECT * FROM x, y, z WHERE z.i8 = y.i2 AND y.i2 = x.i4 ORDER BY x.i4',
    'SELECT * FROM x, y, z WHERE z.d = y.ts AND y.ts = x.ts AND z.d = ''2020-01-07''',
    'SELECT * FROM x, y, z WHERE z.tz = y.ts AND y.ts = x.d AND z.tz = ''2020-01-07''',
    'SELECT * FROM x, y, z WHERE z.d = y.d AND y.d = x.tz AND z.d = ''2020-01-07''',
    'SELECT * FROM x, y WHERE x.u = y.u ORDER BY x.u',
    'SELECT x.* FROM x LEFT JOIN y ON x.i8 = y.i4',
    'SELECT * FROM x JOIN y ON x.i4 = y.i4 ORDER BY x.i4']) query;
CREATE EXTENSION penumbra_keytree;
SELECT query, before, plan_of(query) AS after FROM plans WHERE before <> plan_of(query);

-- The integer family has exactly btree's operators.
SELECT count(*) FILTER (WHERE k.amopopr IS NULL) AS missing, count(*) FILTER (WHERE b.amopopr IS NULL) AS more, count(*)
FROM (SELECT * FROM pg_amop WHERE amopfamily = (SELECT oid FROM pg_opfamily WHERE opfname = 'integer_ops'
          AND opfmethod = (SELECT oid FROM pg_am WHERE amname = 'btree'))) b
FULL JOIN (SELECT * FROM pg_amop WHERE amopfamily = (SELECT oid FROM pg_opfamily WHERE opfname = 'integer_ops'
          AND opfmethod = (SELECT oid FROM pg_am WHERE amname = 'keytree'))) k
USING (amoplefttype, amoprighttype, amopstrategy, amopopr);

SELECT opcname, amvalidate(oid) FROM pg_opclass
WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'keytree') ORDER BY 1;
-- What is not numbers in btree's order is found.
CREATE OPERATOR CLASS wrong_order FOR TYPE int4 USING keytree AS
    OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <;
CREATE OPERATOR CLASS wrong_type FOR TYPE text USING keytree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
CREATE OPERATOR CLASS incomplete FOR TYPE uuid USING keytree AS OPERATOR 3 =;
\set VERBOSITY terse
SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcname IN ('wrong_order', 'wrong_type', 'incomplete') ORDER BY 1;

-- Order, extremes and comparisons with another type come from the index.
CREATE TABLE k AS SELECT i::int8 AS a FROM generate_series(1, 20000) i;
CREATE INDEX k_a ON k USING keytree (a);
VACUUM ANALYZE k;
EXPLAIN (COSTS OFF) SELECT * FROM k ORDER BY a DESC LIMIT 5;
SELECT plan_of('SELECT max(a) FROM k') LIKE '%Index Only Scan Backward using k_a on k%' AS max_from_index;
EXPLAIN (COSTS OFF) SELECT * FROM k WHERE a = 7::int2;
EXPLAIN (COSTS OFF) SELECT * FROM x, k WHERE k.a = x.i4 AND x.i4 < 10;
-- Beside an equal btree the narrower one wins; without a restriction the heap.
CREATE INDEX k_btree ON k (a);
EXPLAIN (COSTS OFF) SELECT * FROM k WHERE a = 7;
EXPLAIN (COSTS OFF) SELECT count(*) FROM k WHERE a > 7 AND a < 18000;
SELECT count(*) FROM k WHERE a > 7 AND a < 18000;
SET client_min_messages = warning;
DROP EXTENSION penumbra_keytree CASCADE;
DROP TABLE x, y, z, k, plans;
DROP FUNCTION plan_of;
