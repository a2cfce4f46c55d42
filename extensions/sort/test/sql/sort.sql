-- What the functions give, and their errors.
CREATE EXTENSION penumbra_sort;
SET search_path = penumbra_sort, public;
\dx+ penumbra_sort

SELECT sort(ARRAY[3, 1, 2]), sort_desc(ARRAY[3, 1, 2]), sort_unique(ARRAY[3, 1, 3, 2]),
       argsort(ARRAY[3, 1, 2]), sort_top(ARRAY[3, 1, 2], 2);
SELECT sort('{}'::int[]), sort_desc('{}'::text[]), sort_unique('{}'::uuid[]), argsort('{}'::numeric[]),
       sort_top('{}'::date[], 3);
SELECT sort('{7}'::int[]), argsort('[4:4]={7}'::int[]), sort_top('[4:4]={7}'::int[], 1);
SELECT sort(NULL::int[]), sort_top(ARRAY[1], NULL);

-- nulls are last in every order
SELECT sort('{NULL,2,NULL,1}'::int[]), sort_desc('{NULL,2,NULL,1}'::int[]),
       sort_unique('{NULL,2,NULL,1,2}'::int[]), argsort('{NULL,2,NULL,1}'::int[]),
       sort_top('{NULL,2,NULL,1}'::int[], 3);
SELECT sort('{NULL,b,NULL,a}'::text[]), sort_desc('{NULL,b,NULL,a}'::text[]),
       sort_unique('{NULL,b,NULL,a,b}'::text[]), argsort('{NULL,b,NULL,a}'::text[]),
       sort_top('{NULL,b,NULL,a}'::text[], 3);
SELECT sort('{NULL,NULL}'::float8[]), sort_unique('{NULL,NULL}'::uuid[]), sort_top('{NULL,NULL}'::text[], 1);

-- NaN is the greatest, zeros are equal
SELECT sort('{1,NaN,-Infinity,0,Infinity,NaN,-1}'::float8[]);
SELECT sort_desc('{1,NaN,-Infinity,0,Infinity,NaN,-1}'::float4[]);
SELECT sort_unique('{1,NaN,-0,0,NaN,0,-0,1}'::float8[]), argsort('{0,-0,-1,NaN,0}'::float8[]);
SELECT sort_top('{1,NaN,2,3,4,5,6,7,8,9,NULL}'::float4[], 2);
SELECT sort('{1,NaN,-Infinity,0,Infinity,0.000,-1.5}'::numeric[]);

-- of equal elements the first is first
SELECT sort('{1.00,2,1,1.0}'::numeric[]), sort_desc('{1.00,2,1,1.0}'::numeric[]),
       sort_unique('{1.00,2,1,1.0}'::numeric[]), argsort('{1.00,2,1,1.0}'::numeric[]);

-- lower bounds stay where the subscripts mean the same
SELECT sort('[0:2]={3,1,2}'::int[]), sort_desc('[-1:1]={3,1,2}'::int8[]), sort('[5:7]={c,a,b}'::text[]),
       argsort('[5:7]={c,a,b}'::text[]), sort_top('[5:7]={3,1,2}'::int[], 3), sort_top('[5:7]={1,2,3}'::int[], 0);
SELECT sort_top('[5:7]={3,2,1}'::int[], 3), sort_top('[5:7]={3,2,1}'::int[], 100);

-- other types: by their default order
SELECT sort('{t,f,NULL,t}'::bool[]);
CREATE TYPE pair AS (a int, b text);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
SELECT sort(ARRAY[(2, 'a'), (1, 'z'), (1, 'b')]::pair[]), sort('{happy,sad,ok}'::mood[]),
       sort('{3,1,2}'::positive[]), argsort('{"[3,5)","[1,9)",empty}'::int4range[]);
SELECT sort(ARRAY[row(2, 'a'), row(1, 'z')]), sort('{127.0.0.1,10.0.0.1}'::inet[]),
       sort('{2 days,25 hours,1 day}'::interval[]), sort('{xyz,a,b}'::char(5)[]), sort(ARRAY['\xff00'::bytea, '\xff', '\x']);

-- errors
SELECT sort('{{1,2},{3,4}}'::int[]);
SELECT argsort('{{a,b},{c,d}}'::text[]);
SELECT sort_top(ARRAY[1, 2], -1);
\set VERBOSITY sqlstate
SELECT sort('{{1,2},{3,4}}'::int[]);
SELECT sort_top(ARRAY[1, 2], -1);
SELECT sort(ARRAY[point(1, 2), point(0, 1)]);
SELECT sort(ARRAY[row(point(1, 2)), row(point(0, 1))]);
SELECT sort(7);
SELECT sort(ARRAY['a' COLLATE "C", 'b' COLLATE "POSIX"]);
SELECT sort(x) FROM (SELECT array_agg(a || b) FROM (VALUES ('a' COLLATE "C", 'b' COLLATE "POSIX")) v(a, b)) s(x);
\set VERBOSITY default
SELECT sort(ARRAY[point(1, 2), point(0, 1)]);

-- toasted, compressed and expanded arrays, and the argument stays as it was
CREATE TABLE arrays (i int, a int[], t text[]);
INSERT INTO arrays SELECT n, array_agg((v * 7919) % 10007), array_agg(((v * 7919) % 10007)::text)
FROM (VALUES (3), (100), (5000)) s(n), generate_series(1, 5000) v WHERE v <= n GROUP BY n;
SELECT i, sort(a) = array(SELECT unnest(a) ORDER BY 1) AS ints, sort(t) = array(SELECT unnest(t) ORDER BY 1) AS texts,
       md5(a::text) = md5(array(SELECT (v * 7919) % 10007 FROM generate_series(1, i) v)::text) AS untouched
FROM arrays ORDER BY i;
DO $$
DECLARE
  a int[] := '{5,4,3,1}';
  b int[];
BEGIN
  a[4] := 9;
  b := penumbra_sort.sort(a);
  RAISE NOTICE '% %', a, b;
  a := penumbra_sort.sort(a);
  a[1] := 0;
  RAISE NOTICE '% %', a, b;
END
$$;

-- one call site, several types and many calls
SELECT sort(a) FROM (VALUES (ARRAY[2, 1]), (NULL), (ARRAY[NULL, 5, 4]), ('{}')) v(a);

-- arrays of several types in one column
CREATE TABLE several (i int, n numeric, f float8);
INSERT INTO several SELECT v, v / 4.0, -v FROM generate_series(1, 4) v;
ANALYZE several;
SELECT attname, sort_desc(histogram_bounds), argsort(histogram_bounds) FROM pg_stats WHERE tablename = 'several' ORDER BY 1;

-- beside intarray: the schema's name decides; without it the exact match is intarray's
CREATE EXTENSION intarray SCHEMA public;
SELECT penumbra_sort.sort('{2,NULL,1}'::int[]), penumbra_sort.sort('{2,1}'::int2[]), penumbra_sort.sort_desc('{1,2}'::int[]);
SELECT sort('{2,1}'::int[]), sort('{2,1}'::int8[]), sort('{1,2}'::int[], 'desc');
SELECT sort('{2,NULL,1}'::int[]);
\set VERBOSITY terse
SELECT sort('{2,1}'::int2[]);
\set VERBOSITY default
