-- Every function against the server's own on random operands: value, display scale and size in bytes.
-- PGOPTIONS='-c test.seed=...' tries other operands; the seed is printed when something differs;
-- test.factor makes the run longer.
\set ECHO errors
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_numeric;
SET search_path = pg_catalog, public;

SELECT coalesce(current_setting('test.seed', true)::bigint, 1) AS seed,
	coalesce(current_setting('test.factor', true)::int, 1) AS factor \gset

-- Random digits; runs of nines; few nonzero digits; a power of ten more or less.
CREATE FUNCTION public.random_digits(length int) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT CASE floor(random() * 5)::int
		WHEN 0 THEN (SELECT string_agg(CASE WHEN random() < 0.8 THEN '9' ELSE floor(random() * 10)::text END, '')
					 FROM generate_series(1, length))
		WHEN 1 THEN (SELECT string_agg(CASE WHEN random() < 0.8 THEN '0' ELSE floor(random() * 10)::text END, '')
					 FROM generate_series(1, length))
		WHEN 2 THEN floor(random() * 10)::text || repeat(floor(random() * 10)::text, length - 1)
		ELSE (SELECT string_agg(floor(random() * 10)::text, '') FROM generate_series(1, length)) END
$$;
CREATE FUNCTION public.random_number(length_max int) RETURNS numeric LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	length int := 1 + floor(random() * length_max);
	digits text := public.random_digits(length);
	scale int := greatest(0, floor(random() * (length + 12)) - 8);
BEGIN
	IF random() < 0.05 THEN
		scale := scale + floor(random() * 40);
	END IF;
	RETURN (CASE WHEN random() < 0.5 THEN '-' ELSE '' END || lpad(digits, greatest(scale + 1, length), '0'))::numeric
		* ('0.' || repeat('0', scale - 1) || '1')::numeric ^ (scale > 0)::int
		* (CASE WHEN random() < 0.1 THEN 10::numeric ^ floor(random() * 20)::int ELSE 1 END);
END $$;

SELECT setseed((:seed % 1000000) / 1000000.0) \g /dev/null
CREATE TABLE public.numbers AS
	SELECT id, public.random_number(CASE WHEN id % 250 = 0 THEN 3000 WHEN id % 100 = 0 THEN 800 ELSE (ARRAY[4, 18, 36, 60])[id % 4 + 1] END) AS n
	FROM generate_series(0, 9999) id;
ALTER TABLE public.numbers ADD PRIMARY KEY (id);
CREATE TABLE public.pairs AS
	SELECT a.n AS a, b.n AS b, (pick.id % 60 - 20)::int AS i
	FROM (SELECT id, floor(random() * 10000)::int AS x, floor(random() * 10000)::int AS y, random() < 0.02 AS is_same
			FROM generate_series(1, 60000 * :factor) id) pick
		JOIN public.numbers a ON a.id = x JOIN public.numbers b ON b.id = CASE WHEN is_same THEN x ELSE y END;

CREATE TABLE public.results (function text, checked bigint, wrong bigint, example text);
-- Compares pg_catalog's function with ours wherever condition holds; a call is written with names a, b, i.
-- Values that are passed through keep the form in which they came, so their size is not compared.
CREATE FUNCTION public.check_call(call text, condition text DEFAULT 'true') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format($f$
		INSERT INTO public.results
		SELECT %1$L, count(*), count(*) FILTER (WHERE differs),
			min(format('a = %%s, b = %%s, i = %%s: %%s instead of %%s', a, b, i, ours, theirs)) FILTER (WHERE differs)
		FROM (SELECT *, theirs::text IS DISTINCT FROM ours::text
					OR pg_column_size(theirs) IS DISTINCT FROM pg_column_size(ours) AND NOT is_argument AS differs
			FROM (SELECT a, b, i, pg_catalog.%2$s AS theirs, penumbra_numeric.%2$s AS ours,
					%4$L::bool AS is_argument FROM public.pairs
				WHERE %3$s OFFSET 0) calls OFFSET 0) compared$f$, call, call, condition,
		call ~ '(smaller|larger)');
END $$;

SELECT public.check_call(format('%s(a, b)', name)) FROM unnest('{numeric_add,numeric_sub,numeric_mul,gcd,lcm,numeric_eq,
	numeric_ne,numeric_lt,numeric_le,numeric_gt,numeric_ge,numeric_cmp,numeric_smaller,numeric_larger}'::text[]) name \g /dev/null
SELECT public.check_call(format('%s(a, b)', name), 'b <> 0') FROM unnest('{numeric_div,mod,div}'::text[]) name \g /dev/null
SELECT public.check_call(format('%s(a)', name)) FROM unnest('{abs,numeric_uminus,sign,round,trunc,ceil,floor,
	scale,min_scale,trim_scale,hash_numeric}'::text[]) name \g /dev/null
SELECT public.check_call('float8(a)', 'abs(a) < 1e300') \g /dev/null
SELECT public.check_call('sqrt(a)', 'a >= 0') \g /dev/null
SELECT public.check_call(format('%s(a, i)', name)) FROM unnest('{round,trunc}'::text[]) name \g /dev/null
SELECT public.check_call('hash_numeric_extended(a, i)') \g /dev/null
SELECT public.check_call('int2(a)', 'abs(a) < 32767') \g /dev/null
SELECT public.check_call('int4(a)', 'abs(a) < 2147483647') \g /dev/null
SELECT public.check_call('int8(a)', 'abs(a) < 9223372036854775807') \g /dev/null
SELECT public.check_call('"numeric"(a::int8)', 'abs(a) < 9223372036854775807') \g /dev/null
SELECT public.check_call('"numeric"(a::int4)', 'abs(a) < 2147483647') \g /dev/null
SELECT public.check_call('"numeric"(i::int2)') \g /dev/null
-- numeric(100, i): the typmod is 4 + 100 * 65536 + the scale in 11 bits
SELECT public.check_call('"numeric"(a, 6553604 + (i & 2047))', 'abs(a) < 1e50') \g /dev/null
SELECT public.check_call('exp(a)', 'abs(a) < 500 AND abs(i) < 2 AND length(a::text) < 1000') \g /dev/null
SELECT public.check_call('ln(a)', 'a > 0 AND abs(i) < 2 AND length(a::text) < 1000') \g /dev/null
SELECT public.check_call('log(a)', 'a > 0 AND abs(i) < 2 AND length(a::text) < 1000') \g /dev/null
SELECT public.check_call('log(a, b)', 'a > 0 AND a <> 1 AND b > 0 AND abs(i) < 3 AND length(a::text || b::text) < 200') \g /dev/null
SELECT public.check_call('power(a, i)', 'a <> 0 AND abs(a) < 1e10 AND length(a::text) < 100') \g /dev/null
SELECT public.check_call('power(a, b)', 'a > 0 AND a < 1e6 AND abs(b) < 50 AND abs(i) < 10 AND length(a::text || b::text) < 200') \g /dev/null
SELECT public.check_call('factorial(i)', 'i >= 0') \g /dev/null

-- Aggregates: groups of one to hundreds of numbers of mixed scales; some with special values.
CREATE TABLE public.grouped AS
	SELECT (random() ^ 3 * 300)::int AS g, row_number() OVER () AS id,
		CASE WHEN random() < 0.0005 THEN (ARRAY['NaN', 'Infinity', '-Infinity'])[1 + floor(random() * 3)::int]::numeric
			WHEN random() < 0.05 THEN NULL ELSE n END AS n
	FROM (SELECT CASE id % 6 WHEN 0 THEN round(n % 1000000, 2) WHEN 1 THEN round(n % 1000, (id % 5)::int) ELSE n END AS n, id
		FROM public.numbers) mixed
	UNION ALL
	SELECT 1000 + id / 100, 20000 + id, round((random() * 1e10)::numeric, 2) FROM generate_series(1, 5000) id;
CREATE FUNCTION public.check_aggregate(name text, clause text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	query text := CASE WHEN clause = '' THEN 'SELECT g AS key, %s.%s(n) AS result FROM public.grouped GROUP BY g'
		ELSE 'SELECT id AS key, %s.%s(n) OVER (' || clause || ') AS result FROM public.grouped' END;
BEGIN
	EXECUTE format($f$
		INSERT INTO public.results
		SELECT %L, count(*), count(*) FILTER (WHERE differs),
			min(format('key %%s: %%s instead of %%s', key, ours, theirs)) FILTER (WHERE differs)
		FROM (SELECT key, theirs.result AS theirs, ours.result AS ours,
					theirs.result::text IS DISTINCT FROM ours.result::text AS differs
			FROM (%s) theirs JOIN (%s) ours USING (key)) compared$f$,
		name || ' ' || clause, format(query, 'pg_catalog', name), format(query, 'penumbra_numeric', name));
END $$;
CREATE TABLE public.aggregates AS
	SELECT unnest('{sum,avg,min,max,stddev,stddev_samp,stddev_pop,variance,var_samp,var_pop}'::text[]) AS name;
ALTER TABLE public.grouped SET (parallel_workers = 2);
SELECT public.check_aggregate(name, '') FROM public.aggregates \g /dev/null
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT public.check_aggregate(name, '') FROM public.aggregates \g /dev/null
RESET min_parallel_table_scan_size;
CREATE TABLE public.several AS SELECT * FROM public.grouped WHERE g % 20 = 0;
DROP TABLE public.grouped;
ALTER TABLE public.several RENAME TO grouped;
SELECT public.check_aggregate(name, 'PARTITION BY g ORDER BY id ROWS BETWEEN 5 PRECEDING AND 3 FOLLOWING')
FROM public.aggregates \g /dev/null
SELECT public.check_aggregate(name, 'ORDER BY id ROWS BETWEEN 50 PRECEDING AND CURRENT ROW') FROM public.aggregates \g /dev/null
SELECT public.check_aggregate(name, 'PARTITION BY g ORDER BY id') FROM public.aggregates \g /dev/null

-- Nothing below may appear; every check above has seen operands.
SELECT format('seed %s: %s: %s of %s wrong, %s', :seed, function, wrong, checked, example) AS difference
FROM public.results WHERE wrong > 0 ORDER BY function;
SELECT function AS never_checked FROM public.results WHERE checked = 0;
SELECT count(*) AS checks FROM public.results;
