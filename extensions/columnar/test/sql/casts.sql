-- Casts from text: the engine reads the plain forms, and PostgreSQL's own plan what else there is.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 2;
SET max_parallel_workers_per_gather = 0;
SET timezone = 'Europe/Berlin';
SET datestyle = ISO;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
CREATE TABLE written AS SELECT i AS id, CASE WHEN i % 53 > 0 THEN (i * 7919 % 100000 - 50000)::text END AS number,
	((i * 7919 % 1000003) / 100.0)::text AS price, ((i % 977 - 400) / 7.0)::text AS score, (i % 3 = 1)::text AS flag,
	md5(i::text)::uuid::text AS code, (date '1999-01-01' + i % 20000)::text AS day,
	(timestamp '2024-03-30' + i * interval '17.03 seconds')::text AS at,
	to_char(timestamp '2024-03-30' + i * interval '17 seconds', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at_tz, (i % 1000)::char(12) AS padded
FROM generate_series(1, 30000) i;
VACUUM ANALYZE written;
SELECT penumbra.load('written') > 0 AS loaded;
SELECT agree('SELECT sum(number::int), min(number::bigint), count(number::int), sum(padded::smallint), avg(padded::int8) FROM written');
SELECT agree('SELECT sum(price::numeric), max(price::numeric(10, 1)), min(score::numeric), sum(score::numeric) FROM written');
SELECT agree('SELECT id, score::float8, score::float4, price::float8 FROM written ORDER BY id');
SELECT agree('SELECT flag::boolean, count(*) FROM written WHERE code::uuid > ''8fffffff-0000-0000-0000-000000000000'' GROUP BY 1 ORDER BY 1');
SELECT agree('SELECT replace(code, ''-'', '''')::uuid, (''{'' || upper(code) || ''}'')::uuid FROM written WHERE id % 100 = 1 ORDER BY id');
SELECT agree('SELECT day::date, at::date, at_tz::date, count(*) FROM written GROUP BY 1, 2, 3 ORDER BY 1, 2, 3');
-- with a zone's shift among local times, and where a zone is written
SELECT agree('SELECT min(at::timestamp), max(at::timestamptz), min(at_tz::timestamp), max(at_tz::timestamptz) FROM written');
SELECT agree('SELECT date_trunc(''hour'', at::timestamptz), count(*) FROM written GROUP BY 1 ORDER BY 1');
SELECT agree('SELECT extract(hour FROM to_timestamp(number::bigint / 10.0)), count(*) FROM written GROUP BY 1 ORDER BY 1');
SELECT agree('SELECT a.id FROM written a JOIN written b ON a.number::int = b.id AND b.number::int < 9 WHERE a.score::numeric > 0 ORDER BY 1');
-- garbage that no row reaches is none
SELECT agree('SELECT sum(CASE WHEN flag = ''true'' THEN number::int ELSE 0 END), sum(CASE WHEN id < 0 THEN at::int END) FROM written');
SELECT agree('SELECT count(*) FROM written WHERE number ~ ''^\d+$'' AND number::int > 100');
-- any text, by any type: answers and errors are PostgreSQL's
CREATE TABLE odd AS SELECT row_number() OVER ()::int AS id, value FROM unnest(ARRAY[
	'', ' ', '5', ' 5 ', E'\t5\n', '+5', '-5', '- 5', '5.', '.5', '5.0', '5e2', '5E-400', '1e400', '0x1F', '0o7', '0b11', '1_000', '1,5', 'NaN', '-inf',
	'Infinity', '99999', '9999999999', '99999999999999999999', repeat('9', 1200), '0.' || repeat('0', 400) || '1', '4.9e-324', '1e-46', '0x1p3',
	't', 'T', 'tru', 'TRUE', 'of', 'off', '{a0eebc999c0b4ef8bb6d6bb9bd380a11}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
	'{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}', 'a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11', 'a0eebc999c0b4ef8bb6d6bb9bd380a11-', 'a0-eebc999c0b4ef8bb6d6bb9bd380a11', '{}',
	'{a0eebc999c0b4ef8bb6d6bb9bd380a11', 'a0eebc999c0b4ef8bb6d6bb9bd380a11}', '{a0eebc999c0b4ef8bb6d6bb9bd380a11 }', 'a0ee--bc999c0b4ef8bb6d6bb9bd380a11', 'a0eebc999c0b4ef8bb6d6bb9bd380a', 'a0eebc999c0b4ef8bb6d6bb9bd380a1',
	'2024-02-30', '2024-02-29', '20240229', '24-02-29', '2024-2-9', '29.02.2024', '02/03/2024', 'Feb 29 2024', '2024-060', 'J2451545', '0044-03-15 BC',
	'infinity', 'now', 'epoch', '2024-02-29 24:00:00', '2024-02-29 23:59:60', '2024-02-29 10:00:00.1234567', '2024-02-29 10:00:00 PM',
	'2024-02-29 10:00:00 Europe/London', '2024-02-29 10:00:00 UTC', '2024-02-29 10:00:00 +02', '2024-02-29 10:00:00+02:30', '2024-02-29 10:00:00+16',
	'2024-02-29t10:00:00z', '2024-02-29T10', '2024-02-29T10:00', '2024-02-29 10:00:00-0130', '10:00:00', '12345-01-01', 'häß']) value;
VACUUM ANALYZE odd;
SELECT penumbra.load('odd') > 0 AS loaded;
SELECT answer FROM odd, unnest(ARRAY['int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'bool', 'uuid', 'date', 'timestamp', 'timestamptz']) type,
	agree(format('SELECT value::%s FROM odd WHERE id = %s', type, id), 'prefer') answer WHERE answer ~ 'DIFFERENT';
SET datestyle = 'SQL, DMY';
SELECT answer FROM odd, unnest(ARRAY['date', 'timestamp', 'timestamptz']) type,
	agree(format('SELECT value::%s FROM odd WHERE id = %s', type, id), 'prefer') answer WHERE answer ~ 'DIFFERENT' AND value <> 'now';
SET datestyle = ISO;
-- zones by name: with rules for ever, of history, of one offset, abbreviations; what is no zone
CREATE TABLE instants AS SELECT row_number() OVER ()::int AS id, at, at AT TIME ZONE 'UTC' AS at_tz FROM (
	SELECT timestamp '2024-03-09' + i * interval '17 minutes' AS at FROM generate_series(1, 4000) i UNION ALL
	SELECT timestamp '2024-10-25' + i * interval '17 minutes' FROM generate_series(1, 1000) i UNION ALL
	SELECT timestamp '1870-01-01' + i * interval '30 days 01:02:03.000004' FROM generate_series(1, 3000) i UNION ALL
	SELECT unnest('{infinity,-infinity,NULL,4713-01-01 BC,0001-01-01,1883-11-18 12:03:58,2037-12-31 23:59:59.999999}'::timestamp[])) v;
CREATE TABLE late AS SELECT unnest('{294276-12-31 23:00,2151-06-01,9999-01-01}'::timestamp[]) AS at;
VACUUM ANALYZE instants, late;
SELECT penumbra.load('instants') > 0 AND penumbra.load('late') > 0 AS loaded;
SELECT zone, agree(format('SELECT id, at AT TIME ZONE %1$L, at_tz AT TIME ZONE %1$L, at AT TIME ZONE ''UTC'' AT TIME ZONE %1$L FROM instants ORDER BY 1', zone)),
	agree(format('SELECT date_trunc(''day'', at_tz, %1$L), count(*) FROM instants WHERE extract(hour FROM at_tz AT TIME ZONE %1$L) BETWEEN 1 AND 3 GROUP BY 1', zone)),
	agree(format('SELECT timezone(%1$L, at) FROM late', zone))
FROM unnest('{Europe/Berlin,america/NEW_york,UTC,utc,Z,EST,CET,+05:30,<+02>-2,Asia/Kathmandu,Australia/Lord_Howe,Pacific/Apia,Africa/Monrovia}'::text[]) zone;
SELECT left(zone, 9), agree(format('SELECT count(timezone(%L, at)) FROM instants', zone)) FROM unnest(ARRAY['Nowhere', '', repeat('+', 300)]) zone;
SELECT agree('SELECT timezone(NULL, at) FROM late'), agree('SELECT count(*) FROM instants WHERE id < 0 AND at_tz > at AT TIME ZONE ''Nowhere''');
-- an abbreviation that meant several offsets, and a zone of each row
SELECT agree('SELECT date_trunc(''month'', at) AT TIME ZONE ''MSK'', count(*) FROM instants GROUP BY 1');
SELECT agree('SELECT date_trunc(''month'', at) AT TIME ZONE CASE WHEN id < 5 THEN ''UTC'' ELSE ''Europe/Paris'' END, count(*) FROM instants GROUP BY 1');
-- the session's own abbreviations
SET timezone_abbreviations = 'Australia';
SELECT agree('SELECT count(*), max(at_tz AT TIME ZONE ''EST'') FROM instants WHERE isfinite(at)');
RESET timezone_abbreviations;
PREPARE by_zone(text) AS SELECT count(*), max(at AT TIME ZONE $1), min(at_tz AT TIME ZONE $1) FROM instants WHERE id < 7000;
EXECUTE by_zone('Asia/Tokyo');
SET plan_cache_mode = force_generic_plan;
EXECUTE by_zone('Asia/Tokyo');
RESET plan_cache_mode;
-- as text, in each style and zone; intervals with parts of both signs
CREATE VIEW texts AS SELECT id, at::date::text AS d, at::text AS t, at_tz::text AS z, at::time::text AS c, at_tz::date::varchar(7) AS m,
  CASE WHEN isfinite(at) THEN (at - timestamp '2000-01-01 05:00')::text END AS i, (id % 30 * interval '-1 mon 1 day -00:00:00.5')::text AS j FROM instants;
CREATE FUNCTION all_agree(style text, intervals text, zone text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('datestyle', style, true), set_config('intervalstyle', intervals, true), set_config('timezone', zone, true);
	RETURN (SELECT string_agg(agree(format('SELECT count(*), count(DISTINCT %1$s), min(%1$s), max(%1$s) FROM texts', name))::text, ' ')
		FROM unnest(ARRAY['d', 't', 'z', 'c', 'm', 'i', 'j']) name);
END $$;
SELECT style, zone, all_agree(style, 'postgres', zone) FROM unnest(ARRAY['ISO', 'SQL, DMY', 'German']) style,
  unnest(ARRAY['UTC', 'America/New_York', 'Asia/Kathmandu', 'Africa/Monrovia']) zone;
SELECT intervals, all_agree('ISO', intervals, 'UTC') FROM unnest(ARRAY['postgres_verbose', 'sql_standard', 'iso_8601']) intervals;
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT left(z, 4), count(*) FROM texts WHERE d > '2024-03-20' AND i LIKE '%days%' GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT make_interval(days => id) + make_timestamp(2000, 1, 1 + id % 3, 4, 5, 6.5), count(*) FROM instants
  WHERE date_bin('1 hour', at, at - id * interval '1 s') < '2030-01-01' AND (at - at)::interval(2) < '1 day' GROUP BY 1;
RESET penumbra.mode;
SELECT agree('SELECT make_interval(id, 2, 3, id % 50, 5, -6, id / 7.0), make_timestamp(1 + id, 1 + id % 12, 1 + id % 28, id % 24, 5, id % 60), count(*) FROM instants GROUP BY 1, 2');
SELECT agree('SELECT make_timestamptz(1900 + id % 200, 1 + id % 12, 1 + id % 28, id % 24, 5, id % 60), count(*) FROM instants GROUP BY 1');
SELECT agree('SELECT date_bin(''7 min'', at, at_tz AT TIME ZONE ''UTC'' - id * interval ''1 s''), count(*) FROM instants WHERE id < 4000 GROUP BY 1');
DROP VIEW texts;
DROP FUNCTION all_agree;
DROP TABLE written, odd, instants, late;
DROP FUNCTION agree, rows_of;
