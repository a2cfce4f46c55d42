-- Functions that take text apart and make values of parts: the rows, or the errors, of PostgreSQL.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 2;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
CREATE TABLE part (id int, path text, name varchar(20), filling text, n int, amount numeric(8, 2), at timestamp, at_tz timestamptz, day date);
INSERT INTO part SELECT i, CASE WHEN i % 17 > 0 THEN 'a' || i || '/ä' || i % 7 || '//' || i % 3 END, CASE i % 5 WHEN 0 THEN '' WHEN 1 THEN 'Ünïcödé ' || i ELSE 'plain ' || i % 40 END,
	(ARRAY['', ' ', 'xy', '🎉é', NULL])[1 + i % 5], i % 9 - 4, CASE WHEN i % 4 > 0 THEN i / 8.0 END, timestamp '2001-01-01' + i * interval '61 minutes',
	CASE i WHEN 77 THEN 'infinity' WHEN 78 THEN '-infinity' ELSE timestamptz '2001-01-01 UTC' + i * interval '61 minutes' END, date '2020-01-01' + i
FROM generate_series(1, 3000) i;
VACUUM ANALYZE part;
SELECT penumbra.load('part') > 0 AS loaded;
SELECT agree('SELECT split_part(path, ''/'', 1), split_part(path, ''/'', 2), split_part(path, ''/'', -1), split_part(path, ''/'', -3), split_part(path, ''//'', 2), split_part(path, '''', 1), split_part(path, '''', 2), split_part(name, ''ö'', id) FROM part');
SELECT agree('SELECT split_part(path, name, 1), split_part(path, filling, n) FROM part WHERE n <> 0');
SELECT agree('SELECT lpad(name, 9, filling), rpad(name, n, ''ab''), rpad(name, 12), lpad(path, id % 30, name), lpad(name, -1, ''x'') FROM part');
SELECT agree('SELECT repeat(name, n), repeat(filling, 3), translate(path, ''ä/0'', ''Ä|''), translate(name, filling, path), translate(name, ''aa'', ''bc'') FROM part');
SELECT agree('SELECT concat_ws('', '', path, name, filling), concat_ws(filling, id, amount, NULL, path), concat_ws('''', name, n), concat_ws(NULL, name), concat_ws(''-'', NULL, filling) FROM part');
SELECT agree('SELECT num_nulls(path, filling, amount, id), num_nonnulls(path, filling, amount), count(*), sum(num_nulls(path)) FROM part GROUP BY 1, 2');
SELECT agree('SELECT date_bin(''15 minutes'', at, timestamp ''2000-12-31 23:59:59''), date_bin(''7 days'', at_tz, ''2001-01-01''), count(*) FROM part GROUP BY 1, 2');
SELECT agree('SELECT make_date(2000 + id % 50, 1 + id % 12, 1 + id % 28), count(*) FROM part GROUP BY 1');
SELECT agree('SELECT n & 5, n | id, id # n, ~n, n << 3, id >> (n & 7), count(*) FROM part GROUP BY 1, 2, 3, 4, 5, 6');
SELECT agree('SELECT at::time, at_tz::time, at::timestamp(0), at_tz::timestamptz(0), count(*) FROM part GROUP BY 1, 2, 3, 4');
SELECT agree('SELECT max(sin(id)), min(acos(cos(radians(n)))), max(atan2(n, id)), min(tanh(n)), max(log(id)), min(cbrt(n)), max(degrees(id)) FROM part');
-- zones: of a constant, a column, an interval, a parameter; clocks that change
CREATE TABLE clock (id int, zone text, at timestamp, at_tz timestamptz, tod time, span interval, score float8, amount numeric(8, 2), rate numeric);
INSERT INTO clock SELECT i, (ARRAY['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'EST', 'UTC', NULL])[1 + i % 6],
	CASE i WHEN 5 THEN 'infinity' WHEN 6 THEN '0044-03-15 12:00 BC' ELSE timestamp '2024-03-01' + i * interval '2:59:59.123457' END,
	CASE i WHEN 5 THEN '-infinity' WHEN 6 THEN '1883-11-18 17:00 UTC' ELSE timestamptz '2024-03-01 UTC' + i * interval '2:59:59.123457' END,
	time '00:00' + i * interval '7:01:02.345678', i * interval '1 day 11:12:13.5' - interval '2 mons 17 days' * (i % 40), i * 0.37 - 100, i * 0.37 - 100, i * 0.123456789
FROM generate_series(1, 2600) i;
VACUUM ANALYZE clock;
SELECT penumbra.load('clock') > 0 AS loaded;
SELECT agree('SELECT id, at AT TIME ZONE ''Europe/Berlin'', at_tz AT TIME ZONE ''America/New_York'', at_tz AT TIME ZONE ''EST'', at AT TIME ZONE interval ''-05:30'' FROM clock');
SELECT agree('SELECT id, at AT TIME ZONE zone, at_tz AT TIME ZONE zone, at AT TIME ZONE ''UTC'' AT TIME ZONE zone FROM clock');
SELECT agree('SELECT date_trunc(''day'', at_tz, ''Australia/Lord_Howe''), date_trunc(''hour'', at_tz, zone), count(*) FROM clock GROUP BY 1, 2');
SELECT agree('SELECT zone, extract(hour FROM at_tz AT TIME ZONE zone), count(*) FROM clock WHERE (at_tz AT TIME ZONE zone)::date > ''2024-03-30'' GROUP BY 1, 2');
SELECT agree('SELECT a.id, b.id FROM clock a JOIN clock b ON date_trunc(''day'', a.at_tz, ''EST'') = b.at AT TIME ZONE ''UTC''');
SELECT agree('SELECT id, tod::time(0), tod + span, tod - span, tod - time ''12:00'', tod::interval, span::time, at::date + tod, tod + date ''2024-02-29'' FROM clock WHERE id <> 5');
SELECT agree('SELECT extract(hour FROM tod), extract(minute FROM tod), date_part(''milliseconds'', tod), extract(epoch FROM max(tod)), count(*) FROM clock GROUP BY 1, 2, 3');
SELECT agree('SELECT id, justify_hours(span), justify_days(span), justify_interval(span), isfinite(at), isfinite(at_tz), isfinite(at::date) FROM clock');
SELECT agree('SELECT width_bucket(score, 0, 500, 20), width_bucket(amount, 500, -50, 9), width_bucket(rate, 0.1, 300, 50), count(*) FROM clock GROUP BY 1, 2, 3');
SELECT agree('SELECT width_bucket(amount, ARRAY[0, 10.5, 10.5, 700]), width_bucket(at, ARRAY[timestamp ''2024-04-01'', ''infinity'']), width_bucket(zone COLLATE "C", ARRAY[''E'', ''Europe/Z'']), count(*) FROM clock GROUP BY 1, 2, 3');
-- An offset is no name: its sign has another sense.  An error is one of a row that has it.
SELECT agree('SELECT id, make_timestamptz(2024, 1 + id % 12, 1 + id % 28, id % 24, id % 60, id % 60 + 0.25, ''Europe/Berlin''), make_timestamptz(2024, 3, 1 + id % 31, 2, 30, 0, ''EST'') FROM clock');
SELECT agree('SELECT make_timestamptz(2024, 3, 10, id % 24, 30, 0, ''America/New_York''), make_timestamptz(2024, 3, 10, id % 24, 30, 0, ''+02''), count(*) FROM clock WHERE id < 100 GROUP BY 1, 2');
SELECT agree('SELECT id, make_timestamptz(2024, 3, 10, id % 24, 30, 0, zone) FROM clock WHERE id % 3 = 0');
SELECT agree('SELECT make_timestamptz(2024, 3, 10, id % 24, 30, 0, CASE id % 3 WHEN 0 THEN ''Europe/Berlin'' WHEN 1 THEN ''EST'' END), count(*) FROM clock GROUP BY 1');
-- a zone that is no name is PostgreSQL's
SET penumbra.mode = prefer;
SELECT make_timestamptz(2024, 3, 10, 5, 30, 0, CASE id % 3 WHEN 0 THEN 'Europe/Berlin' WHEN 1 THEN '-03:30' ELSE '+2' END) AS made, count(*) FROM clock GROUP BY 1 ORDER BY 1;
RESET penumbra.mode;
SELECT agree('SELECT count(make_timestamptz(2024, 2, 25 + id % 5, 2, 30, 0, ''Asia/Tokyo'')) FROM clock');
SELECT agree('SELECT count(*) FROM clock WHERE CASE WHEN id < 0 THEN make_timestamptz(2024, 2, id, 2, 30, 0, ''Nowhere'') IS NULL END');
SELECT agree('SELECT count(make_timestamptz(2024, 2, 1, 2, 30, id % 60, ''Nowhere'')) FROM clock');
PREPARE in_zone(text) AS SELECT count(DISTINCT date_trunc('day', at_tz AT TIME ZONE $1)), max(at AT TIME ZONE $1) FROM clock WHERE isfinite(at);
SET plan_cache_mode = force_generic_plan;
EXECUTE in_zone('Asia/Tokyo');
EXECUTE in_zone(NULL);
EXECUTE in_zone('Nowhere');
RESET plan_cache_mode;
-- by groups, in conditions and joins
SELECT agree('SELECT split_part(path, ''/'', 2) AS p, count(*), min(lpad(n::text, 4, ''0'')) FROM part WHERE translate(name, ''p'', ''P'') LIKE ''P%'' GROUP BY 1 ORDER BY 1');
SELECT agree('SELECT a.id FROM part a JOIN part b ON split_part(a.path, ''/'', 1) = concat_ws('''', ''a'', b.id) WHERE b.n = 2');
-- errors are PostgreSQL's, of the rows that SQL evaluates
SET penumbra.mode = prefer;
SELECT count(*) FROM part WHERE split_part(path, '/', n) <> '';
SELECT count(*) FROM part WHERE log(n) > 0;
SELECT count(*) FROM part WHERE CASE WHEN abs(n) < 2 THEN acos(n) > 0 END;
SELECT count(*) FROM part WHERE acos(n) > 0;
SELECT count(*) FROM part WHERE CASE WHEN n <> 0 THEN split_part(path, '/', n) <> '' END;
SELECT count(*) FROM part WHERE lpad(name, 1000000000, 'x') <> '';
SELECT count(*) FROM part WHERE repeat(name, 500000000) <> '';
SELECT count(*) FROM part WHERE make_timestamptz(2024, 2, 30, n, 0, 0, 'Asia/Tokyo') IS NULL;
SELECT count(make_date(2023, n, 30)) FROM part;
SELECT count(make_date(2023 - 4000 * (n % 2), 1, 30)) FROM part WHERE n > 0;
SELECT count(date_bin('1 month', at, '2000-01-01')) FROM part;
SELECT count(date_bin('0 days', at, '2000-01-01')) FROM part;
SELECT count(date_bin('1 day', at, 'infinity')) FROM part;
SELECT count(DISTINCT date_bin('1 day', at, '2030-01-01')), min(date_bin('5 days', at, '2030-01-01')) FROM part;
SELECT count(at AT TIME ZONE 'Nowhere') FROM clock;
SELECT count(at AT TIME ZONE 'MSK') FROM clock WHERE isfinite(at);
SELECT count(at_tz AT TIME ZONE interval '1 month') FROM clock;
SELECT count(at AT TIME ZONE CASE id WHEN 9 THEN 'Nowhere' ELSE zone END) FROM clock;
SELECT count(at AT TIME ZONE CASE id WHEN 5 THEN 'Nowhere' ELSE zone END) FROM clock;
SELECT count(width_bucket(score, 0, 0, 3)) FROM clock;
SELECT count(width_bucket(score, 0, 'infinity', 3)) FROM clock;
SELECT count(width_bucket(score, ARRAY[1, NULL])) FROM clock;
SELECT count(width_bucket(id, ARRAY[7, 3])) FROM clock;
SELECT count(justify_days(span + interval '2147483647 mons')) FROM clock WHERE id % 40 = 0;
SELECT count(*) FROM part WHERE concat_ws(',', VARIADIC ARRAY[path, name]) <> '' AND num_nulls(VARIADIC ARRAY[path, name]) = 0;
DROP TABLE part, clock;
DROP FUNCTION agree, rows_of;
