-- Numbers, bytes and texts in formats: in the engine where the format is a constant that it knows, PostgreSQL's elsewhere.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\set VERBOSITY terse
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
CREATE TABLE entry (id int, name text, amount numeric(12, 2), free numeric, ratio float8, short float4, big int8, picture bytea);
INSERT INTO entry SELECT i, CASE WHEN i % 97 > 0 THEN repeat('é\\x' || i, i % 9) END, (i - 1000) * 7.77, i / 3.0, (i - 500) / 7.0, i / 11.0, i * 1234567891::int8,
	decode(repeat(lpad(to_hex(i), 4, '0'), i % 40), 'hex')
FROM generate_series(1, 5000) i;
INSERT INTO entry VALUES (0, NULL, NULL, 'NaN', '-Infinity', 'NaN', NULL, NULL), (-1, '', 0, '-Infinity', '-0', 'Infinity', -1, '');
VACUUM ANALYZE entry;
SELECT penumbra.load('entry') > 0 AS loaded;
SELECT expression, agree(format('SELECT %s, count(*) FROM entry GROUP BY 1', expression)) FROM (VALUES
	($$to_char(amount, 'FM999G999G990D00')$$), ($$to_char(free, '999,990.999S')$$), ($$to_char(ratio, 'MI990.99')$$),
	($$to_char(short, 'FM990.9PR')$$), ($$to_char(big, '9,999,999,999,999')$$), ($$to_char(id, '"no. "0000')$$),
	($$md5(name)$$), ($$md5(picture)$$), ($$encode(sha256(picture), 'hex')$$), ($$encode(picture, 'base64')$$), ($$encode(picture, 'escape')$$),
	($$encode(decode(md5(name), 'hex'), 'base64')$$), ($$encode(decode(encode(picture, 'base64'), 'base64'), 'hex')$$), ($$encode(decode(encode(picture, 'hex'), 'hex'), 'base64')$$),
	($$translate(name, '0123x', '3210yz')$$), ($$translate(name, '\\x1', '-é')$$), ($$translate(md5(name), 'abcdef09', 'fedc')$$), ($$translate(name, 'é1', 'e')$$),
	($$encode(convert_to(name, 'utf8'), 'HEX')$$), ($$format('%s%%: %s (%s)', name, id % 7, amount)$$),
	($$format('%s', id % 7)$$), ($$format('%%%s', NULL::text)$$)) expressions (expression);
-- what engine and PostgreSQL do, by EXPLAIN
CREATE FUNCTION evaluated(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	SET LOCAL penumbra.mode = prefer;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF, VERBOSE) SELECT ' || expression || ', count(*) FROM entry GROUP BY 1' LOOP
		IF line LIKE '%Evaluated By PostgreSQL%' THEN
			RETURN trim(line);
		END IF;
	END LOOP;
	RETURN 'by the engine';
END
$$;
SELECT evaluated($$to_char(id, '9990')$$) AS plain, evaluated($$to_char(id, 'RN')$$) AS roman, evaluated($$to_char(amount, '9.9.9')$$) AS wrong,
	evaluated($$format('%2$s', name, id)$$) AS numbered, evaluated($$encode(picture, 'base32')$$) AS unknown;
-- text that is not the input of bytea, and a wrong format: PostgreSQL's errors
SET penumbra.mode = prefer;
SELECT count(*) FROM entry WHERE ('\' || id)::bytea IS NULL;
SELECT count(*) FROM entry WHERE decode(name, 'hex') IS NULL;
SELECT count(*) FROM entry WHERE decode(repeat(name, 5), 'base64') IS NULL;
SELECT count(*) FROM entry WHERE decode(encode(picture, 'base64') || '=', 'base64') IS NULL;
SELECT count(DISTINCT decode(encode(picture, 'base64') || 'QQ=A', 'base64')) FROM entry WHERE id < 4;
SELECT to_char(amount, '9.9.9') v, count(*) FROM entry GROUP BY 1;
SELECT count(*) FROM entry WHERE id < -5 AND to_char(amount, '9.9.9') > '';
RESET penumbra.mode;
-- what another locale writes is PostgreSQL's, also where it is set after planning
PREPARE local_format AS SELECT to_char(amount, 'FM999G990D00'), count(*) FROM entry WHERE id = 2000 GROUP BY 1;
SET plan_cache_mode = force_generic_plan;
EXECUTE local_format;
SET lc_numeric = 'de_DE.utf8';
EXECUTE local_format;
SELECT evaluated($$to_char(amount, 'FM990D00')$$) AS local, evaluated($$to_char(amount, 'FM990.00')$$) AS plain;
RESET lc_numeric;
DROP TABLE entry;
DROP FUNCTION agree, rows_of, evaluated;
