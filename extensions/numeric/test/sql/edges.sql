-- Special values, limits of the format and errors: each function on all pairs of edges gives the server's
-- value, or its error with the same SQLSTATE and message.
\set ECHO errors
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_numeric;
SET search_path = pg_catalog, public;

CREATE TABLE public.edges AS SELECT unnest(ARRAY['NaN', 'Infinity', '-Infinity', '0', '0.00', '-0.000', '1', '-1', '1.00', '10', '-2', '3',
	'0.5', '-0.5', '0.05', '0.49999999', '0.9999', '1e-4', '1e-5', '-1e-16', '1e-16382', '4999', '5000', '9999', '10000', '9999.5', '99999999',
	'0.00009999', '123456789012', '9999999999999999', '10000000000000000', '99999999999999999999999999999999', '1e32', '1e35', '1e36', '1e37',
	'999999999999999999999999999999999999', '-999999999999999999999999999999999999.9999', '170141183460469231731687303715884105727',
	'340282366920938463463374607431768211456', '1e63', '1e64', '1e252', '1e256', '1e131071', '-1e131068', '1.5e-64', '1e-63', '1e-252',
	'32767', '32767.5', '32768', '-32768.49', '-32769', '2147483647', '2147483647.5', '-2147483648.5', '9223372036854775807',
	'9223372036854775807.5', '-9223372036854775808.5', '9007199254740993', '9007199254740992.5', '0.1', '0.3', '12345.678',
	'3.14159265358979323846264338327950288', '1.000000000000000000000000000000000000000000000000000000000000000001',
	repeat('9', 600), '0.' || repeat('123', 1000), repeat('7', 300) || '.' || repeat('3', 300)]::text[])::numeric AS n;
-- stored long although it would fit the short form
INSERT INTO public.edges SELECT trim_scale(1.5 + 1e-70 - 1e-70);

CREATE FUNCTION public.outcome(call text, a numeric, b numeric) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
	detail text;
BEGIN
	EXECUTE 'SELECT (' || call || ')::text' INTO result USING a, b;
	RETURN coalesce(result, 'NULL');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN format('%s: %s %s', SQLSTATE, SQLERRM, detail);
END $$;
-- condition says of a and b which pairs a call is tried on: all, or (single) each a once
CREATE TABLE public.calls (call text, condition text);
CREATE FUNCTION public.single(condition text DEFAULT 'true') RETURNS text LANGUAGE sql AS $$
	SELECT 'b::text = ''1'' AND ' || condition
$$;
INSERT INTO public.calls SELECT format('@.%s($1, $2)', name), 'true' FROM unnest('{numeric_add,numeric_sub,numeric_mul,numeric_div,mod,numeric_mod,
	div,numeric_div_trunc,gcd,lcm,numeric_eq,numeric_ne,numeric_lt,numeric_le,numeric_gt,numeric_ge,numeric_cmp,numeric_smaller,
	numeric_larger}'::text[]) name;
INSERT INTO public.calls SELECT format('@.%s($1)', name), public.single() FROM unnest('{abs,numeric_abs,numeric_uminus,sign,round,trunc,ceil,
	ceiling,floor,scale,min_scale,trim_scale,hash_numeric,sqrt,numeric_sqrt,int2,int4,int8,float8,ln,numeric_ln,log,log10}'::text[]) name;
INSERT INTO public.calls SELECT format('@.%s($1, %s)', name, scale), public.single() FROM unnest('{round,trunc}'::text[]) name,
	unnest('{-2147483648,-200000,-131073,-131072,-37,-36,-5,-4,-3,-1,0,1,2,3,4,5,35,100,16383,2000000,2147483647}'::int[]) scale;
INSERT INTO public.calls SELECT format('@."numeric"($1, %s)', typmod), public.single() FROM unnest('{-2147483648,-1,0,3,4,5,4099,2147483647}'::int[] || ARRAY(
	SELECT 4 + precision * 65536 + (scale & 2047) FROM unnest('{1,2,4,5,16,36,1000}'::int[]) precision,
		unnest('{-1000,-5,-4,-1,0,1,2,4,10,1000}'::int[]) scale)) typmod;
INSERT INTO public.calls SELECT format('@.hash_numeric_extended($1, %s)', seed), public.single() FROM unnest('{0,-1,42}'::int[]) seed;
INSERT INTO public.calls SELECT format('@.%s($1)', name), public.single('(abs(a) < 10000 OR scale(a) IS NULL) AND coalesce(scale(a), 0) < 100')
	FROM unnest('{exp,numeric_exp}'::text[]) name;
INSERT INTO public.calls SELECT format('@.%s($1, $2)', name), '(abs(a) < 1e20 OR scale(a) IS NULL) AND (abs(b) < 1000 OR scale(b) IS NULL)
	AND coalesce(scale(a), 0) < 100 AND coalesce(scale(b), 0) < 100' FROM unnest('{power,pow,numeric_power,log,numeric_log}'::text[]) name;
INSERT INTO public.calls SELECT format('@.factorial(%s)', n), public.single('a::text = ''1''')
	FROM unnest('{-1,0,1,2,20,30,1000,32178}'::bigint[]) n;
INSERT INTO public.calls SELECT format('(SELECT @.%s(n) FROM (VALUES ($1), ($2)) v(n))', name),
	CASE WHEN name IN ('sum', 'avg') THEN 'true'
		ELSE 'b::text IN (''1'', ''NaN'') OR greatest(abs(a), abs(b)) < 1e300 AND greatest(scale(a), scale(b)) < 1000' END
	FROM unnest('{sum,avg,var_pop,stddev}'::text[]) name;

CREATE TABLE public.outcomes (call text, a numeric, b numeric, theirs text, ours text);
DO $$
DECLARE
	tried record;
BEGIN
	FOR tried IN SELECT * FROM public.calls LOOP
		EXECUTE format('INSERT INTO public.outcomes
			SELECT %1$L, a, b, public.outcome(replace(%1$L, ''@'', ''pg_catalog''), a, b),
				public.outcome(replace(%1$L, ''@'', ''penumbra_numeric''), a, b)
			FROM (SELECT x.n AS a, y.n AS b FROM public.edges x, public.edges y) pairs WHERE %2$s', tried.call, tried.condition);
	END LOOP;
END $$;
SELECT call, left(a::text, 50) AS a, left(b::text, 50) AS b, left(ours, 80) AS ours, left(theirs, 80) AS theirs
FROM public.outcomes WHERE ours IS DISTINCT FROM theirs ORDER BY call, a, b LIMIT 20;
SELECT count(*) > 80000 AS enough, count(DISTINCT call) AS calls,
	count(*) FILTER (WHERE theirs ~ '^[0-9A-Z]{5}: ') > 1000 AS some_fail FROM public.outcomes;

-- Names resolve to pg_catalog first: what the extension's operators and aggregates call is its own.
SELECT p.oid::regprocedure AS not_ours
FROM pg_proc p JOIN (SELECT oprcode AS oid FROM pg_operator WHERE oprnamespace = 'penumbra_numeric'::regnamespace
	UNION SELECT unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn])
	FROM pg_aggregate WHERE aggfnoid::oid IN (SELECT oid FROM pg_proc WHERE pronamespace = 'penumbra_numeric'::regnamespace)) used
	ON p.oid = used.oid::oid
WHERE p.pronamespace <> 'penumbra_numeric'::regnamespace;
-- Every function has one of pg_catalog that it stands for, and differs from it in nothing that a planner knows.
SELECT ours.oid::regprocedure AS different
FROM pg_proc ours LEFT JOIN pg_proc theirs ON theirs.proname = ours.proname AND theirs.pronamespace = 'pg_catalog'::regnamespace
	AND theirs.proargtypes = ours.proargtypes
WHERE ours.pronamespace = 'penumbra_numeric'::regnamespace AND ours.proname NOT IN ('enable', 'disable', 'open_schemas', 'guard_schemas')
	AND (theirs.prorettype, theirs.provolatile, theirs.proisstrict, theirs.proparallel, theirs.prokind)
		IS DISTINCT FROM (ours.prorettype, ours.provolatile, ours.proisstrict, ours.proparallel, ours.prokind);

-- What takes the states of aggregates can neither be called nor made part of an aggregate by just anybody.
CREATE ROLE numeric_caller;
GRANT USAGE ON SCHEMA penumbra_numeric TO numeric_caller;
GRANT CREATE ON SCHEMA public TO numeric_caller;
CREATE FUNCTION public.tried(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
SET ROLE numeric_caller;
-- (PostgreSQL's minor releases differ in how they refuse to make an internal value)
SELECT count(*) > 40 AS enough, bool_and(public.tried(call) IN ('0A000', '42846', '42883')) AS refused
FROM pg_proc, unnest('{NULL,NULL::internal,(SELECT NULL),''1''}'::text[]) state,
	LATERAL (SELECT format('SELECT %s(%s)', oid::regproc, string_agg(CASE t::regtype WHEN 'internal'::regtype THEN state
			WHEN 'bytea'::regtype THEN '''\xffff''::bytea' ELSE '1::' || t::regtype END, ',' ORDER BY place)) AS call
		FROM unnest(proargtypes) WITH ORDINALITY types(t, place)) calls
WHERE pronamespace = 'penumbra_numeric'::regnamespace AND 'internal'::regtype = ANY (proargtypes::oid[]);
SELECT public.tried('CREATE AGGREGATE public.forged(numeric) (SFUNC = penumbra_numeric.numeric_avg_accum, STYPE = internal, FINALFUNC = numeric_sum)');
RESET ROLE;
REVOKE ALL ON SCHEMA public, penumbra_numeric FROM numeric_caller;
DROP ROLE numeric_caller;
