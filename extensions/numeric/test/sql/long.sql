-- Long operands, from some tens of digits to what the format holds, against the server's own functions.
-- PGOPTIONS='-c test.seed=...' tries other operands; the seed is printed when something differs;
-- test.factor makes the run longer.
\set ECHO errors
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_numeric;
SET search_path = pg_catalog, public;

SELECT coalesce(current_setting('test.seed', true)::bigint, 1) AS seed,
	coalesce(current_setting('test.factor', true)::int, 1) AS factor \gset
SELECT setseed((:seed % 1000000) / 1000000.0) \g /dev/null

-- Random groups of digits, of which in two kinds of numbers many are all zeros or all nines.
CREATE FUNCTION public.long_digits(length int) RETURNS text LANGUAGE sql VOLATILE AS $$
	WITH kind AS (SELECT floor(random() * 4) AS kind)
	SELECT left(string_agg(CASE WHEN kind = 0 AND random() < 0.7 THEN repeat('9', 8) WHEN kind = 1 AND random() < 0.7 THEN repeat('0', 8)
		ELSE lpad(floor(random() * 1e8)::int::text, 8, '0') END, ''), length)
	FROM kind, generate_series(0, length / 8)
$$;
CREATE FUNCTION public.long_number(length_min int, length_max int) RETURNS numeric LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	length int := length_min + floor(random() * (length_max - length_min));
	-- at most 16383 digits behind the point
	whole int := CASE WHEN random() < 0.3 THEN length ELSE greatest(floor(random() * length)::int, length - 8000) END;
BEGIN
	RETURN (CASE WHEN random() < 0.3 THEN '-' ELSE '' END || public.long_digits(whole) || '0.'
		|| public.long_digits(length - whole))::numeric;
END $$;

CREATE TABLE public.long_pairs AS
	SELECT public.long_number(low, high) AS a, public.long_number(low, high) AS b
	FROM (VALUES (30, 200, 2000), (200, 1200, 400), (1200, 9000, 40), (9000, 40000, 5)) sizes(low, high, count),
		generate_series(1, count * :factor)
	UNION ALL  -- a short and a long one
	SELECT public.long_number(30, 300), public.long_number(1000, 12000) FROM generate_series(1, 40 * :factor)
	UNION ALL
	SELECT public.long_number(1000, 12000), public.long_number(30, 300) FROM generate_series(1, 40 * :factor)
	UNION ALL  -- a quotient several times as long as its divisor, which is long itself
	SELECT public.long_number(20000, 50000), public.long_number(6500, 9000) FROM generate_series(1, 4 * :factor);
-- quotients next to a whole number
INSERT INTO public.long_pairs
	SELECT a * b + d, b FROM public.long_pairs, (VALUES (0), (1), (-1)) near(d) WHERE b <> 0 AND scale(a) + scale(b) < 500;

-- operands of exp and ln
CREATE TABLE public.long_points AS
	SELECT trunc((CASE WHEN random() < 0.5 THEN -1 ELSE 1 END * power(10, random() * 7 - 4))::numeric, 10)
			+ ('0.' || public.long_digits(length))::numeric AS a, '1'::numeric AS b
	FROM (VALUES (50, 200, 600), (200, 500, 60), (500, 1050, 15)) sizes(low, high, count),
		LATERAL (SELECT low + floor(random() * (high - low))::int AS length FROM generate_series(1, count * :factor)) lengths
	UNION ALL  -- near 1
	SELECT 1 + sign * ('0.' || repeat('0', zeros) || public.long_digits(200))::numeric, '1'
	FROM (VALUES (1), (-1)) signs(sign), (VALUES (0), (3), (10), (40), (90), (150)) places(zeros),
		generate_series(1, 8 * :factor)
	UNION ALL  -- far from it
	SELECT abs(a), b FROM public.long_pairs WHERE length(a::text) < 200;

-- operands of log and power: bases near 1 and not, exponents whole and not
CREATE TABLE public.long_powers AS
	SELECT (CASE kind WHEN 0 THEN '1.' || repeat('0', zeros) WHEN 1 THEN '0.' || repeat('9', zeros)
			WHEN 2 THEN '0.' || repeat('0', zeros) ELSE floor(power(10, random() * 6))::int::text || '.' END
			|| public.long_digits(length))::numeric + '1e-600' AS a,
		trunc((CASE WHEN random() < 0.3 THEN -1 ELSE 1 END * power(10, random() * 4 - 1))::numeric, 10)
			+ ('0.' || public.long_digits(length / 2))::numeric AS b,
		(CASE WHEN random() < 0.3 THEN -1 ELSE 1 END * floor(exp(random() * 9)))::int AS n
	FROM (VALUES (5, 60, 600), (60, 300, 300), (300, 900, 15)) sizes(low, high, count),
		LATERAL (SELECT low + floor(random() * (high - low))::int AS length, floor(random() * 20)::int AS zeros,
			floor(random() * 6) AS kind FROM generate_series(1, count * :factor)) lengths;

CREATE TABLE public.long_results (function text, checked bigint, wrong bigint, example text);
CREATE FUNCTION public.check_long(call text, operands text, condition text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format($f$
		INSERT INTO public.long_results
		SELECT %1$L, count(*), count(*) FILTER (WHERE differs), min(format('a = %%s, b = %%s', a, b)) FILTER (WHERE differs)
		FROM (SELECT a, b, pg_catalog.%1$s::text IS DISTINCT FROM penumbra_numeric.%1$s::text AS differs
			FROM public.%2$I WHERE %3$s OFFSET 0) compared$f$, call, operands, condition);
END $$;
SELECT public.check_long(call, 'long_pairs', condition) FROM (VALUES ('numeric_mul(a, b)', 'true'),
	('numeric_mul(a, a)', 'length(a::text) < 60000'), ('numeric_div(a, b)', 'b <> 0'), ('div(a, b)', 'b <> 0'),
	('mod(a, b)', 'b <> 0'), ('mod(b, a)', 'a <> 0'), ('gcd(a, b)', 'least(length(a::text), length(b::text)) < 1000'),
	('gcd(a * b, b * (a + 1))', 'length(a::text || b::text) < 800'), ('lcm(a, b)', 'least(length(a::text), length(b::text)) < 300'),
	('gcd(a, trunc(b))', 'trunc(b) <> 0 AND length(a::text || b::text) < 500'), ('sqrt(abs(a))', 'true')) calls(call, condition) \g /dev/null
SELECT public.check_long('exp(a)', 'long_points', 'abs(a) < 5000') \g /dev/null
SELECT public.check_long('ln(a)', 'long_points', 'a > 0') \g /dev/null
-- not those that overflow, and not those that would take long
SELECT public.check_long(call, 'long_powers', condition) FROM (VALUES ('log(a, 1e-30 + abs(b))', 'true'), ('log(10, a)', 'true'),
	('power(a, b)', 'b * ln(a) < 2000'), ('power(a, 3e9 + abs(b))', 'a < 1 AND a > 1 - 1e-6'), ('power(-a, n)', 'n * ln(a) < 10000'),
	('power(a, 2)', 'true'), ('power(trunc(a, 2), n)', 'a > 0.01 AND n * ln(a) < 20000'),
	('power(trunc(a), abs(n))', 'a > 1 AND abs(n) * ln(a) < 20000'), ('power(trunc(a), 20000)', 'a >= 1 AND a < 500')) calls(call, condition) \g /dev/null
CREATE TABLE public.one AS SELECT 1::numeric AS a, 1::numeric AS b;
SELECT public.check_long(format('factorial(%s)', n), 'one', 'true') FROM (VALUES (21), (100), (1000), (5000)) numbers(n) \g /dev/null

-- Nothing below may appear; every check above has seen operands.
SELECT format('seed %s: %s: %s of %s wrong, %s', :seed, function, wrong, checked, left(example, 4000)) AS difference
FROM public.long_results WHERE wrong > 0 ORDER BY function;
SELECT function AS never_checked FROM public.long_results WHERE checked = 0;
SELECT count(*) AS checks FROM public.long_results;
