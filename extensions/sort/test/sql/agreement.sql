-- Agreement with ORDER BY: types, shapes, sizes, nulls.  A failure prints what to repeat.
CREATE EXTENSION IF NOT EXISTS penumbra_sort;
CREATE COLLATION IF NOT EXISTS caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);

-- Values of each type, made of a number k.
CREATE TEMP TABLE types (type text, value text, collation_name text DEFAULT '');
INSERT INTO types (type, value) VALUES
  ('int2', '(k % 60000 - 30000)::int2'), ('int4', '(k - 1073741824)::int4'), ('int8', '(k - 1073741824) * 4294967311'),
  ('float4', $$(CASE k % 40 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '0' WHEN 3 THEN 'Infinity' WHEN 4 THEN '-Infinity' WHEN 5 THEN '1e-45' ELSE ((k - 1073741824) / 7.0)::text END)::float4$$),
  ('float8', $$(CASE k % 40 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '0' WHEN 3 THEN 'Infinity' WHEN 4 THEN '-Infinity' WHEN 5 THEN '-5e-324' ELSE ((k - 1073741824) / 7.0)::text END)::float8$$),
  ('date', $$CASE k % 40 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' ELSE date '2000-01-01' + (k % 100000 - 50000)::int END$$),
  ('timestamp', $$CASE k % 40 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' ELSE timestamp '2000-01-01' + (k - 1073741824) * interval '1.001 s' END$$),
  ('timestamptz', $$CASE k % 40 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' ELSE timestamptz '2000-01-01' + (k - 1073741824) * interval '1.001 s' END$$),
  ('time', $$time '00:00' + k * interval '1 us'$$), ('money', '(k - 1073741824)::money'),
  ('interval', $$k * interval '1 second' + (k % 3) * interval '1 month'$$),
  ('uuid', 'md5(k::text)::uuid'),
  ('uuid', $$('00000000-0000-0000-' || lpad(to_hex(k % 65536), 4, '0') || '-' || lpad(to_hex(k * 7), 12, '0'))::uuid$$),
  ('numeric', $$(CASE k % 40 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' WHEN 3 THEN '0' WHEN 4 THEN '0.00' WHEN 5 THEN '1e300' WHEN 6 THEN '-1e-300' WHEN 7 THEN (k % 5 || '.' || repeat('0', (k % 3)::int)) ELSE ((k - 1073741824) * 1234567::numeric / 1000)::text END)::numeric$$),
  ('numeric', $$1234567890123456789012345678901234567890.5 + (k % 1000)::numeric / 1000$$),
  ('bool', 'k % 2 = 0'), ('oid', '(k * 2)::oid'), ('"char"', $$chr((k % 90 + 33)::int)::"char"$$),
  ('name', $$('n' || k % 1000)::name$$), ('bytea', $$decode(repeat('00', (k % 5)::int) || left(md5((k % 50)::text), 4), 'hex')$$),
  ('inet', $$('10.' || k % 200 || '.0.0/' || 8 + k % 20)::inet$$), ('macaddr', $$left(md5(k::text), 12)::macaddr$$),
  ('int4range', 'int4range((k % 1000)::int, (k % 1000 + k % 7)::int)'), ('jsonb', $$to_jsonb(k % 777)$$);
INSERT INTO types
SELECT type, value, collation_name
FROM (VALUES ('C'), ('POSIX'), ('en_US.utf8'), ('de-x-icu'), ('caseless')) c(collation_name),
  (VALUES ('text', $$left(md5(k::text), (k % 33)::int)$$),
          ('text', $$'https://www.example.com/' || repeat('/path', (k % 4)::int) || k % 3000$$),
          ('text', $$repeat('x', (k % 300)::int) || substr('aAbBüÜéß -_', (k % 11 + 1)::int, 3)$$),
          ('varchar', $$substr('resumé Resume-ßÄ', (k % 7 + 1)::int, (k % 9)::int)$$),
          ('bpchar', $$(substr('resumé Resume', (k % 7 + 1)::int, (k % 9)::int) || repeat(' ', (k % 3)::int))::bpchar$$)) v(type, value);

CREATE TEMP TABLE shapes (shape text, number text);
INSERT INTO shapes VALUES
  ('random', 'floor(random() * 2147483647)::int8'), ('few', 'floor(random() * 5)::int8 * 1000003'), ('equal', '4242'),
  ('skewed', 'floor(power(random(), 20) * 2147483647)::int8'), ('sorted', 'i * 1000'), ('reversed', '(100000 - i) * 1000'),
  ('saw-tooth', '(i % 17) * 1001');

-- The numbers of the functions that disagree.
CREATE FUNCTION pg_temp.disagreements(type text, collation_name text, values_sql text, lower_bound int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  clause text := CASE WHEN collation_name = '' THEN '' ELSE format('COLLATE %I', collation_name) END;
  found text;
BEGIN
  EXECUTE format($query$
    WITH input AS MATERIALIZED (
      SELECT coalesce(array_agg(v), '{}')::%1$s[] AS plain, '{1}'::int[] AS one FROM (%3$s) s(v)),
    arrays AS MATERIALIZED (
      SELECT CASE WHEN cardinality(plain) > 0
             THEN ('[%4$s:' || cardinality(plain) + %4$s - 1 || ']=' || plain::text)::%1$s[] ELSE plain END AS a,
             cardinality(plain) / 5 + 1 AS few FROM input)
    SELECT concat_ws(', ',
      CASE WHEN penumbra_sort.sort(a %2$s) IS DISTINCT FROM
        ('[%4$s:' || cardinality(a) + %4$s - 1 || ']=' || nullif(array(SELECT x FROM unnest(a) x ORDER BY x %2$s), '{}')::text)::%1$s[]
        AND cardinality(a) > 0 THEN 'sort' END,
      CASE WHEN array(SELECT x::text FROM unnest(penumbra_sort.sort(a %2$s)) x ORDER BY x::text COLLATE "C") IS DISTINCT FROM
        array(SELECT x::text FROM unnest(a) x ORDER BY x::text COLLATE "C") THEN 'elements of sort' END,
      CASE WHEN array(SELECT x FROM unnest(penumbra_sort.sort_desc(a %2$s)) x) IS DISTINCT FROM
        array(SELECT x FROM unnest(a) x ORDER BY x %2$s DESC NULLS LAST) THEN 'sort_desc' END,
      CASE WHEN array(SELECT x::text FROM unnest(penumbra_sort.sort_desc(a %2$s)) x ORDER BY x::text COLLATE "C") IS DISTINCT FROM
        array(SELECT x::text FROM unnest(a) x ORDER BY x::text COLLATE "C") THEN 'elements of sort_desc' END,
      CASE WHEN array(SELECT x %2$s FROM unnest(penumbra_sort.sort_unique(a %2$s)) x) IS DISTINCT FROM
        array(SELECT DISTINCT x %2$s FROM unnest(a) x ORDER BY 1) THEN 'sort_unique' END,
      CASE WHEN penumbra_sort.argsort(a %2$s) IS DISTINCT FROM
        nullif(array(SELECT n + %4$s - 1 FROM unnest(a) WITH ORDINALITY u(x, n) ORDER BY x %2$s, n), '{}')::int[]
        AND array(SELECT unnest(penumbra_sort.argsort(a %2$s))) IS DISTINCT FROM
        array(SELECT (n + %4$s - 1)::int FROM unnest(a) WITH ORDINALITY u(x, n) ORDER BY x %2$s, n) THEN 'argsort' END,
      CASE WHEN array(SELECT x FROM unnest(penumbra_sort.sort_top(a %2$s, few)) x) IS DISTINCT FROM
        array(SELECT x FROM unnest(a) x ORDER BY x %2$s DESC NULLS LAST LIMIT few) THEN 'sort_top of few' END,
      CASE WHEN array(SELECT x FROM unnest(penumbra_sort.sort_top(a %2$s, few * 3)) x) IS DISTINCT FROM
        array(SELECT x FROM unnest(a) x ORDER BY x %2$s DESC NULLS LAST LIMIT few * 3) THEN 'sort_top of many' END)
    FROM arrays $query$, type, clause, values_sql, lower_bound) INTO found;
  RETURN nullif(found, '');
END
$$;

CREATE PROCEDURE pg_temp.compare_all(seed float8) LANGUAGE plpgsql AS $$
DECLARE
  t record;
  s record;
  n int;
  nulls float8;
  number float8 := seed;
  found text;
  compared int := 0;
BEGIN
  FOR t IN SELECT * FROM types LOOP
    FOR s IN SELECT * FROM shapes LOOP
      FOREACH n IN ARRAY ARRAY[0, 1, 2, 5, 24, 25, 70, 600] LOOP
        nulls := (compared % 3) * 0.1;
        number := CASE WHEN number > 0.999 THEN seed ELSE number + 0.00001 END;
        PERFORM setseed(number);
        found := pg_temp.disagreements(t.type, t.collation_name,
          format('SELECT CASE WHEN random() >= %s THEN %s END FROM (SELECT %s AS k FROM generate_series(1, %s) i OFFSET 0) k',
                 nulls, t.value, s.number, n), compared % 4 - 1);
        compared := compared + 1;
        IF found IS NOT NULL THEN
          RAISE WARNING 'seed %: % disagrees: % of % %, % elements, % null, bound %', number, found, s.shape, t.type,
            t.collation_name, n, nulls, (compared - 1) % 4 - 1;
        END IF;
      END LOOP;
    END LOOP;
  END LOOP;
  RAISE NOTICE 'seed %: % arrays compared', seed, compared;
END
$$;
CALL pg_temp.compare_all(0.1);
CALL pg_temp.compare_all(0.6);
