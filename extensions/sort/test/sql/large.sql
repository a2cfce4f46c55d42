-- Arrays that are sorted in several pieces.
SET client_min_messages = warning; -- agreement.sql may have made it
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
-- sort_top keeps, of equal elements, those that sort_desc has first; the buffer of candidates is cut several times
CREATE FUNCTION pg_temp.check_top(a anyarray, OUT elements bigint, OUT agrees boolean)
LANGUAGE sql AS $$
  SELECT cardinality(a), bool_and((penumbra_sort.sort_top(a, n))::text = ((penumbra_sort.sort_desc(a))[1:n])::text)
  FROM unnest('{1,7,1000,12000}'::int[]) n
$$;
CREATE TEMP TABLE numbers AS
  SELECT (random() * 1e5)::int AS k, i, random() < 0.02 AS is_null FROM generate_series(1, 60000) i;
SELECT c.* FROM (SELECT array_agg(CASE WHEN NOT is_null THEN k / 7 || repeat('x', k % 12) END) a FROM numbers) s, pg_temp.check_top(a COLLATE "C") c;
SELECT c.* FROM (SELECT array_agg('the same twelve bytes ' || k) a FROM numbers) s, pg_temp.check_top(a COLLATE "C") c;
SELECT c.* FROM (SELECT array_agg(CASE WHEN NOT is_null THEN upper(left(k::text, 2)) || chr(97 + k % 26) END) a FROM numbers) s, pg_temp.check_top(a COLLATE "en_US.utf8") c;
SELECT c.* FROM (SELECT array_agg(chr(65 + k % 26) || k / 3000 ORDER BY i) a FROM numbers) s, pg_temp.check_top(a COLLATE "de-x-icu") c;
SELECT c.* FROM (SELECT array_agg(CASE WHEN k % 50 = 0 THEN 'NaN' ELSE round(k / 77.0, k % 5) END) a FROM numbers) s, pg_temp.check_top(a) c;
SELECT c.* FROM (SELECT array_agg(k * 1e40 ORDER BY k) a FROM numbers) s, pg_temp.check_top(a) c;
SELECT c.* FROM (SELECT array_agg(k::text::bytea) a FROM numbers) s, pg_temp.check_top(a) c;
SELECT c.* FROM (SELECT array_agg(CASE WHEN NOT is_null THEN k % 999 * interval '1 h' END) a FROM numbers) s, pg_temp.check_top(a) c;
-- arrays as PL/pgSQL keeps them: in one piece, and with their elements apart
CREATE FUNCTION pg_temp.check_expanded(a anyarray, is_apart boolean) RETURNS TABLE (sorts boolean, tops boolean, argument_stays boolean)
LANGUAGE plpgsql AS $$
DECLARE
  flat text := a::text;
  kept a%TYPE := a;
BEGIN
  IF is_apart THEN
    kept[2] := kept[2];
  END IF;
  sorts := penumbra_sort.sort(kept)::text = penumbra_sort.sort(flat::int[])::text;
  tops := (penumbra_sort.sort_top(kept, 500))::text = ((penumbra_sort.sort_desc(kept))[1:500])::text;
  kept := penumbra_sort.sort(kept);
  kept := penumbra_sort.sort(kept);		-- what is sorted is returned as it is
  sorts := sorts AND kept::text = penumbra_sort.sort(flat::int[])::text;
  argument_stays := a::text = flat AND cardinality(kept) = cardinality(a);
  RETURN NEXT;
END
$$;
SELECT c.* FROM (SELECT array_agg(CASE WHEN NOT is_null THEN k END) a FROM (SELECT * FROM numbers UNION ALL SELECT k, i, false FROM numbers) n) s,
  unnest('{f,t}'::boolean[]) is_apart, pg_temp.check_expanded(a, is_apart) c;
SELECT c.* FROM (SELECT array_agg(k) a FROM (SELECT * FROM numbers UNION ALL SELECT * FROM numbers) n) s,
  unnest('{f,t}'::boolean[]) is_apart, pg_temp.check_expanded(a, is_apart) c;
SELECT penumbra_sort.sort(a)::text = (SELECT '[-3:119996]=' || array(SELECT x FROM unnest(a) x ORDER BY x)::text) AS agrees
FROM (SELECT ('[-3:119996]=' || array_agg(k)::text)::int[] a FROM (SELECT * FROM numbers UNION ALL SELECT * FROM numbers) n) s;
