-- Arrays that are sorted in several pieces.
CREATE EXTENSION IF NOT EXISTS penumbra_sort;
SET work_mem = '1GB';
CREATE FUNCTION pg_temp.check_sort(a anyarray, OUT elements bigint, OUT ascending boolean, OUT descending boolean,
                                   OUT distinct_ones boolean)
LANGUAGE plpgsql AS $$
BEGIN
  elements := cardinality(a);
  ascending := penumbra_sort.sort(a) = array(SELECT x FROM unnest(a) x ORDER BY x);
  descending := penumbra_sort.sort_desc(a) = array(SELECT x FROM unnest(a) x ORDER BY x DESC NULLS LAST);
  distinct_ones := penumbra_sort.sort_unique(a) = array(SELECT DISTINCT x FROM unnest(a) x ORDER BY x);
END
$$;
SELECT setseed(0.25);
SELECT c.* FROM (SELECT array_agg(CASE WHEN i % 3 > 0 THEN (random() * 1e9)::int ELSE 77 END) a
                 FROM generate_series(1, 4300000) i) s, pg_temp.check_sort(a) c;
SELECT c.* FROM (SELECT array_agg(CASE WHEN i % 1000 = 0 THEN 'NaN' WHEN i % 1001 > 0 THEN power(random(), 9) END) a
                 FROM generate_series(1, 2150000) i) s, pg_temp.check_sort(a) c;
SELECT c.* FROM (SELECT array_agg(md5((random() * 1e6)::int::text)::uuid) a
                 FROM generate_series(1, 1080000) i) s, pg_temp.check_sort(a) c;
SELECT c.* FROM (SELECT array_agg(('row ' || (random() * 1e6)::int) COLLATE "C") a
                 FROM generate_series(1, 1080000) i) s, pg_temp.check_sort(a) c;
-- argsort keeps equal elements in their order
SELECT penumbra_sort.argsort(a) = array(SELECT n::int FROM unnest(a) WITH ORDINALITY u(x, n) ORDER BY x, n) AS agrees
FROM (SELECT array_agg((random() * 1e6)::int) a FROM generate_series(1, 2150000) i) s;
SELECT penumbra_sort.argsort(a) = array(SELECT n::int FROM unnest(a) WITH ORDINALITY u(x, n) ORDER BY x, n) AS agrees
FROM (SELECT array_agg((random() * 1e6)::int::float8) a FROM generate_series(1, 1080000) i) s;
