-- Columns of all cached types: every query gives the same rows with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET timezone = 'Europe/Berlin';
SET lc_monetary = 'C';

\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'elated');
CREATE DOMAIN mood_domain AS mood;
CREATE DOMAIN clock AS time;
CREATE DOMAIN address AS inet CHECK (family(VALUE) IN (4, 6));
CREATE DOMAIN period AS daterange;
CREATE TYPE place AS (name text, at point, since date, "no" numeric(6, 2));
CREATE TYPE spot AS (here place, doc jsonb);

-- f_: few values; m_: many; e_: extremes
CREATE TABLE typed (
  id int,
  f_enum mood, f_domain mood_domain,
  f_time time, m_time time, e_time clock, f_timetz timetz, m_timetz timetz, e_timetz timetz,
  f_bytea bytea, m_bytea bytea, e_bytea bytea, f_oid oid, m_oid oid, e_oid oid,
  f_money money, m_money money, e_money money, f_inet inet, m_inet inet, e_inet address, f_cidr cidr, m_cidr cidr,
  f_macaddr macaddr, m_macaddr macaddr, f_macaddr8 macaddr8, m_macaddr8 macaddr8,
  f_pg_lsn pg_lsn, m_pg_lsn pg_lsn, f_xid8 xid8, m_name name, f_regclass regclass, f_regtype regtype, f_regrole regrole,
  f_bit bit(5), m_bit bit(70), f_varbit varbit, m_varbit varbit, e_varbit varbit, f_char "char", m_char "char",
  f_int4range int4range, m_int8range int8range, f_period period, m_tsrange tsrange, e_tstzrange tstzrange,
  f_int4multirange int4multirange, m_datemultirange datemultirange, e_tstzmultirange tstzmultirange,
  c_spot spot, n_numrange numrange);
INSERT INTO typed
SELECT i,
  CASE WHEN i % 7 > 0 THEN (enum_range(NULL::mood))[1 + i % 4] END, (enum_range(NULL::mood))[1 + i % 3],
  CASE WHEN i % 11 > 0 THEN time '08:00' + i % 5 * interval '90 minutes' END,
  time '00:00' + i * interval '7.000123 s',
  (ARRAY['00:00', '24:00', '23:59:59.999999', NULL, '00:00:00.000001'])[1 + i % 5]::time,
  CASE WHEN i % 13 > 0 THEN ((ARRAY['12:00+00', '13:00+01', '11:00-01', '12:00+05:30'])[1 + i % 4])::timetz END,
  (time '00:00' + i * interval '7.5 s')::text::time + (i % 3 * interval '0') + time with time zone '00:00+02' - time '00:00',
  (ARRAY['00:00+15:59:59', '24:00-15:59:59', '23:59:59.999999+00', NULL, '24:00+15:59'])[1 + i % 5]::timetz,
  CASE WHEN i % 5 > 0 THEN decode((ARRAY['', '00', '0000', 'ff', 'ff00', 'c3a9'])[1 + i % 6], 'hex') END,
  decode(md5(i::text), 'hex'),
  CASE i % 4 WHEN 0 THEN ''::bytea WHEN 1 THEN decode(repeat(md5(i::text), 20), 'hex')
    WHEN 2 THEN decode(repeat('00', i % 40), 'hex') END,
  CASE WHEN i % 3 > 0 THEN (i % 9)::oid END, (i::bigint * 2100001)::oid,
  (ARRAY[0::bigint, 4294967295, 2147483648, 2147483647, NULL])[1 + i % 5]::oid,
  CASE WHEN i % 6 > 0 THEN (i % 4 - 2)::money / 3 END, (i * 1.37 - 1000)::money,
  (ARRAY['-92233720368547758.08', '92233720368547758.07', NULL, '0'])[1 + i % 4]::money,
  (ARRAY['10.0.0.0/8', '10.0.0.0/16', '10.0.0.1/8', '::1', NULL, '10.1.0.0/16', '10.0.0.0'])[1 + i % 7]::inet,
  ('192.168.' || i / 256 % 256 || '.' || i % 256)::inet + (i % 2),
  (ARRAY['0.0.0.0', '0.0.0.0/0', '255.255.255.255', '255.255.255.255/1', '::', '::/0', NULL,
         'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/3', '2001:db8::/31'])[1 + i % 10]::inet,
  (ARRAY['10.0.0.0/8', '10.0.0.0/7', '2001:db8::/32', NULL, '0.0.0.0/0', '10.0.0.0/9'])[1 + i % 6]::cidr,
  set_masklen(('172.' || i / 256 % 256 || '.' || i % 256 || '.0')::cidr, 24),
  (ARRAY['00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff', '08:00:2b:01:02:03', NULL])[1 + i % 4]::macaddr,
  left(md5(i::text), 12)::macaddr,
  (ARRAY['00:00:00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff:ff:ff', '80:00:00:00:00:00:00:00', NULL, '7f:ff:ff:ff:ff:ff:ff:ff'])[1 + i % 5]::macaddr8,
  left(md5(i::text), 16)::macaddr8,
  (ARRAY['0/0', 'FFFFFFFF/FFFFFFFF', '80000000/0', NULL, '7FFFFFFF/FFFFFFFF'])[1 + i % 5]::pg_lsn, pg_lsn '0/0' + i * 1234567::numeric,
  (ARRAY['0', '18446744073709551615', '9223372036854775808', NULL, '9223372036854775807'])[1 + i % 5]::xid8,
  CASE WHEN i % 8 > 0 THEN repeat((ARRAY['a', 'B', 'ä', ''])[1 + i % 4], i % 70)::name END,
  CASE WHEN i % 4 > 0 THEN (ARRAY['pg_class'::regclass, 'pg_proc', 4294967295::oid::regclass, '-'])[1 + i % 4] END,
  (ARRAY['int4', 'text', NULL])[1 + i % 3]::regtype, (CASE WHEN i % 2 = 0 THEN 10 ELSE 1234567 END)::regrole,
  CASE WHEN i % 5 > 0 THEN (i % 6)::bit(5) END, (('x' || md5(i::text))::bit(70)),
  (ARRAY['', '0', '1', '10', '00000000', '000000000', NULL, '1000000000000000'])[1 + i % 8]::varbit,
  (('x' || left(md5(i::text), 1 + i % 20))::bit(90))::varbit,
  (ARRAY[repeat('0', 63), repeat('0', 64), repeat('0', 65), repeat('1', 64), repeat('1', 128), NULL, repeat('0', 128)])[1 + i % 7]::varbit,
  CASE WHEN i % 4 > 0 THEN (ARRAY['a', 'b', ''])[1 + i % 3]::"char" END, (i % 256 - 128)::"char",
  (ARRAY['empty', '[1,5)', '(0,5)', '[,5)', '[1,]', '(,)', NULL, '[-2147483648,2147483647)', '[1,6]', '[0,5)'])[1 + i % 10]::int4range,
  int8range(i * 1000000007::bigint % 977 - 500, 1000 + i % 3),
  (ARRAY['[2024-01-01,2024-02-01)', 'empty', '[2023-12-31,2024-02-01]', '[-infinity,infinity]', '(,infinity)', '(,)', NULL])[1 + i % 7]::daterange,
  tsrange(timestamp '2020-01-01' + i * interval '1 hour', timestamp '2021-01-01' + i % 9 * interval '1 microsecond',
          (ARRAY['[]', '[)', '(]', '()'])[1 + i % 4]),
  (ARRAY['[2024-01-01 00:00+00,2024-01-02 00:00+00)', '[2024-01-01 00:00+00,2024-01-02 00:00+00]', '(2024-01-01 00:00+00,2024-01-02 00:00+00)',
         '[-infinity,infinity]', '[-infinity,infinity)', '[,infinity]', NULL, 'empty', '(,)', '[4713-01-01 00:00+00 BC,2024-01-01 02:00+02)'])[1 + i % 10]::tstzrange,
  (ARRAY['{}', '{[1,5)}', '{[1,5),[7,9)}', '{[1,2),[3,4),[5,)}', NULL, '{(,)}', '{[1,2),[3,4)}', '{empty}'])[1 + i % 8]::int4multirange,
  datemultirange(daterange(date '2024-01-01' + i % 30, date '2024-02-01' + i % 7), daterange(date '2025-01-01' + i, NULL)),
  (ARRAY['{[2024-01-01 00:00+00,2024-01-01 00:00+00]}', '{[2024-01-01 00:00+00,infinity],(,2020-01-01 00:00+00)}', '{}', NULL,
         '{(2024-01-01 00:00+00,infinity),(,2020-01-01 00:00+00]}'])[1 + i % 5]::tstzmultirange,
  CASE WHEN i % 9 > 0 THEN ROW(CASE WHEN i % 10 > 0 THEN ROW('n' || i % 12, point(i, i), date '2024-01-01' + i % 40, i % 50 / 4.0)::place END,
                               jsonb_build_object('k', i % 5))::spot END,
  (ARRAY['[1,2)', '[1.0,2.00)', 'empty', NULL, '(,1.50]'])[1 + i % 5]::numrange
FROM generate_series(1, 2000) i;
-- equal values far apart, rows without any value, and a column that rows are older than
INSERT INTO typed (id) SELECT i FROM generate_series(2001, 2050) i;
ALTER TABLE typed ADD later mood DEFAULT 'happy', ADD later_inet inet DEFAULT '10.1.2.3/8', ADD later_oid oid DEFAULT 4000000000,
  ADD later_timetz timetz DEFAULT '10:00+02', ADD later_char "char" DEFAULT 'x', ADD later_bits varbit DEFAULT '101',
  ADD later_range tsrange DEFAULT '(2024-01-01,2024-02-01]';
CREATE TABLE nothing (LIKE typed);
VACUUM ANALYZE typed;
SELECT penumbra.load('typed') > 0 AS is_loaded;
SELECT count(*) FROM penumbra.columns WHERE relname = 'typed';
-- some pages must come from the heap, and some rows
UPDATE typed SET f_enum = 'elated', m_time = '12:34', f_varbit = '1', f_inet = '10.0.0.0/8' WHERE id % 377 = 0;
DELETE FROM typed WHERE id % 413 = 0;

CREATE TABLE forms (form text);
INSERT INTO forms VALUES
  ('SELECT COL FROM TAB'),
  ('SELECT COL, count(*), min(id) FROM TAB GROUP BY COL'),
  ('SELECT DISTINCT COL FROM TAB'),
  ('SELECT count(COL), count(DISTINCT COL) FROM TAB'),
  ('SELECT COL, id FROM TAB ORDER BY COL, id'),
  ('SELECT COL, id FROM TAB ORDER BY COL DESC NULLS LAST, id LIMIT 25'),
  ('SELECT COL, count(*) FROM TAB GROUP BY COL ORDER BY COL NULLS FIRST'),
  ('SELECT count(*), min(id) FROM TAB WHERE COL = (SELECT COL FROM typed WHERE id = 17)'),
  ('SELECT count(*) FROM TAB WHERE COL <> (SELECT COL FROM typed WHERE id = 18)'),
  ('SELECT count(*), sum(id) FROM TAB WHERE COL < (SELECT COL FROM typed WHERE id = 1502)'),
  ('SELECT count(*), sum(id) FROM TAB WHERE COL <= (SELECT COL FROM typed WHERE id = 1503)'),
  ('SELECT count(*), sum(id) FROM TAB WHERE COL > (SELECT COL FROM typed WHERE id = 1504)'),
  ('SELECT count(*), sum(id) FROM TAB WHERE COL >= (SELECT COL FROM typed WHERE id = 1501)'),
  ('SELECT count(*), sum(id) FROM TAB WHERE COL BETWEEN (SELECT COL FROM typed WHERE id = 1001) AND (SELECT COL FROM typed WHERE id = 1002)'),
  ('SELECT count(*), sum(id) FROM TAB WHERE COL = ANY (ARRAY(SELECT COL FROM typed WHERE id IN (5, 6, 7, 1477)))'),
  ('SELECT count(*), sum(id) FROM TAB WHERE COL <> ALL (ARRAY(SELECT COL FROM typed WHERE id IN (9, 10) AND COL IS NOT NULL))'),
  ('SELECT count(*) FROM TAB WHERE COL IS NULL'),
  ('SELECT count(*) FROM TAB WHERE COL IS DISTINCT FROM (SELECT COL FROM typed WHERE id = 11)'),
  ('SELECT id, nullif(COL, (SELECT COL FROM typed WHERE id = 12)), coalesce(COL, (SELECT COL FROM typed WHERE id = 13)) FROM TAB'),
  ('SELECT id, CASE WHEN id % 2 = 0 THEN COL END, greatest(COL, (SELECT COL FROM typed WHERE id = 14)), least(COL, (SELECT COL FROM typed WHERE id = 16)) FROM TAB'),
  ('SELECT count(*), sum(a.id) FROM TAB a JOIN typed b USING (COL) WHERE b.id < 40'),
  ('SELECT count(*), sum(b.id) FROM TAB a LEFT JOIN (SELECT * FROM typed WHERE id < 40) b ON a.COL = b.COL'),
  ('SELECT count(*) FROM TAB WHERE COL IN (SELECT COL FROM typed WHERE id % 100 = 1)'),
  ('SELECT count(*) FROM TAB WHERE COL NOT IN (SELECT COL FROM typed WHERE id % 100 = 1 AND COL IS NOT NULL)'),
  ('SELECT id, lag(COL) OVER w, first_value(COL) OVER w FROM TAB WINDOW w AS (ORDER BY id)'),
  ('SELECT id, rank() OVER (ORDER BY COL), dense_rank() OVER (PARTITION BY id % 3 ORDER BY COL DESC) FROM TAB ORDER BY id'),
  ('SELECT mode() WITHIN GROUP (ORDER BY COL), percentile_disc(0.4) WITHIN GROUP (ORDER BY COL) FROM TAB'),
  ('SELECT COL FROM TAB UNION SELECT COL FROM TAB WHERE id < 10');

\t on
-- each type with each query; an array of another type than the operator's is cast element by element
SELECT a.attname, count(*), sum(1) FILTER (WHERE answer LIKE '% rows') AS agreed, string_agg(answer, E'\n') FILTER (WHERE answer NOT LIKE '% rows')
FROM pg_attribute a, forms, agree(replace(replace(form, 'COL', attname), 'TAB', 'typed')) answer
WHERE attrelid = 'typed'::regclass AND attnum > 1 AND attname !~ '^[cn]_'
  AND NOT (form LIKE '%ARRAY(%' AND attname IN ('e_time', 'e_inet', 'f_cidr', 'm_cidr', 'f_period', 'f_regclass', 'f_regtype', 'f_regrole'))
GROUP BY a.attname, attnum ORDER BY attnum;
-- without rows
SELECT count(*), sum(1) FILTER (WHERE answer LIKE '% rows') AS agreed, string_agg(answer, E'\n') FILTER (WHERE answer NOT LIKE '% rows')
FROM pg_attribute a, forms, agree(replace(replace(form, 'COL', attname), 'TAB', 'nothing')) answer
WHERE attrelid = 'typed'::regclass AND attnum > 1 AND attname !~ '^[cn]_'
  AND NOT (form LIKE '%ARRAY(%' AND attname IN ('e_time', 'e_inet', 'f_cidr', 'm_cidr', 'f_period', 'f_regclass', 'f_regtype', 'f_regrole'));
-- min() and max() where PostgreSQL has them
SELECT a.attname, agree(format('SELECT min(%1$I), max(%1$I) FROM typed', attname)),
  agree(format('SELECT id %% 10, min(%1$I), max(%1$I) FROM typed GROUP BY 1', attname)),
  agree(format('SELECT id, max(%1$I) OVER (ORDER BY id ROWS 3 PRECEDING) FROM typed', attname))
FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid
WHERE attrelid = 'typed'::regclass AND attnum > 1
  AND typname IN ('mood', 'mood_domain', 'time', 'clock', 'timetz', 'oid', 'money', 'inet', 'cidr', 'address', 'pg_lsn', 'regclass')
ORDER BY attnum;
-- literals, prepared statements, other types than the column's
SELECT agree($q$SELECT id, f_enum FROM typed WHERE f_enum > 'ok' OR f_enum IN ('sad') ORDER BY f_enum, id$q$);
SELECT agree($q$SELECT id FROM typed WHERE m_name = 'BBBBB' OR m_name < 'B'::text OR 'ääää'::text = m_name$q$),
  agree($q$SELECT m_name COLLATE "en_US.utf8", count(*) FROM typed GROUP BY 1 ORDER BY 1$q$),
  agree($q$SELECT count(*) FROM typed a JOIN typed b ON a.m_name = b.m_name::text AND a.id < 50$q$),
  agree($q$SELECT id FROM typed WHERE m_name LIKE 'a%' OR m_name ~ 'B{3}'$q$), agree($q$SELECT m_name || 'x', length(m_name) FROM typed$q$),
  agree($q$SELECT id FROM typed WHERE f_pg_lsn > '7FFFFFFF/0' AND m_pg_lsn - '0/0' > 500000 AND f_xid8 <> '0'$q$),
  agree($q$SELECT id, f_regclass FROM typed WHERE f_regclass = 'pg_class'::regclass OR f_regclass = 4294967295 OR f_regtype::oid < 24$q$),
  agree($q$SELECT f_regclass::text, f_regrole::text, count(*), count(DISTINCT f_regtype) FROM typed GROUP BY 1, 2$q$);
SELECT agree($q$SELECT id FROM typed WHERE m_time < '12:00' AND m_bytea > '\x80'$q$);
SELECT agree($q$SELECT id FROM typed WHERE m_oid > 3000000000 AND m_money > 12::money$q$);
SELECT agree($q$SELECT id FROM typed WHERE f_cidr = inet '10.0.0.0/8' OR m_inet <= '192.168.3.4'$q$);
SELECT agree($q$SELECT count(*) FROM typed a JOIN typed b ON a.f_inet = b.f_cidr$q$);
SELECT agree($q$SELECT id, f_cidr::inet, f_inet FROM typed WHERE f_cidr::inet >= f_inet$q$);
SELECT agree($q$SELECT id FROM typed WHERE m_char > 'A'::"char" AND f_bit = B'00011'$q$);
SELECT agree($q$SELECT octet_length(e_bytea), length(m_bytea), m_bytea || f_bytea FROM typed$q$);
SELECT agree($q$SELECT string_agg(f_bytea, '\x2c' ORDER BY id), array_agg(f_time ORDER BY id), array_agg(m_money ORDER BY id), array_agg(f_bytea ORDER BY id) FROM typed$q$);
SELECT agree($q$SELECT sum(m_money), sum(f_money), sum(DISTINCT f_money) FILTER (WHERE id > 10), sum(m_money) FILTER (WHERE id < 0) FROM typed$q$);
SELECT agree($q$SELECT id % 7, sum(m_money), min(m_money) FROM typed WHERE id < 1900 GROUP BY ROLLUP (1) HAVING sum(f_money) IS DISTINCT FROM '3'$q$);
SELECT agree($q$SELECT sum(m_money) OVER (ORDER BY id) FROM typed$q$);
SELECT agree($q$SELECT sum(m_money) + '1' FROM nothing$q$);
SELECT agree($q$SELECT id FROM typed WHERE m_time = ANY (ARRAY(SELECT time '00:00' + i * interval '7.000123 s' FROM generate_series(1, 2000, 3) i))$q$);
SELECT agree($q$SELECT id, f_domain FROM typed WHERE f_domain >= 'ok' AND e_time = '24:00'$q$);
-- what is inside of ranges and composites
SELECT expr, agree(format('SELECT %s, count(*), min(id) FROM typed GROUP BY 1', expr)),
  agree(format('SELECT count(DISTINCT %1$s), count(%1$s) FROM typed WHERE id > 10', expr))
FROM unnest(ARRAY['lower(f_int4range)', 'upper(m_int8range)', 'isempty(f_int4range)', 'lower_inc(m_tsrange)', 'upper_inf(f_period)', 'lower(f_period)',
  'lower(n_numrange)', 'upper(n_numrange)', 'isempty(n_numrange)', 'f_int4range @> 3', '4 <@ f_int4range', 'f_int4range && int4range(2, 3)',
  'm_tsrange @> timestamp ''2020-01-20''', 'f_int4range << int4range(7, 9)', 'm_int8range * int8range(0, 700)', 'n_numrange @> 1.5', 'f_int4multirange @> 7',
  'lower(m_datemultirange)', 'f_int4multirange && int4range(6, 8)', '(c_spot).here.name', '((c_spot).here).since', '(c_spot).here.no',
  '(c_spot).doc ->> ''k''', 'upper(m_int8range) - lower(m_int8range)']) WITH ORDINALITY a (expr, place)
ORDER BY place;
SELECT agree($q$SELECT f_int4range, lower(f_int4range), count(*) FROM typed WHERE m_tsrange && '[2020-02-01,2020-03-01)' AND upper(f_period) IS NULL GROUP BY 1, 2$q$);
SELECT agree($q$SELECT id, f_int4range, c_spot, n_numrange FROM typed WHERE f_int4range = '[1,5)' AND (c_spot).here.name = 'n1'$q$);
SELECT agree($q$SELECT a.id, upper(b.f_int4range) FROM typed a LEFT JOIN typed b ON a.id = b.id + 1900 AND NOT isempty(b.f_int4range)$q$);
SELECT agree($q$SELECT count(*) FROM typed a LEFT JOIN typed b ON a.id = b.id + 100 WHERE b.f_int4range IS NULL OR isempty(b.f_int4range)$q$);
-- aggregates of the types
SELECT expr, agree(format('SELECT %s FROM typed', expr)) FROM unnest(ARRAY[
  'bit_and(f_bit)', 'array_agg(f_enum ORDER BY id)', 'array_agg(f_oid ORDER BY id)',
  'array_agg(f_inet ORDER BY id)', 'range_agg(f_int4range)', 'count(DISTINCT n_numrange)']) WITH ORDINALITY a (expr, place)
ORDER BY place;
-- PostgreSQL's functions get values of the types, and return some
SELECT expr, agree(format('SELECT %s, count(*) FROM typed GROUP BY 1', expr)) FROM unnest(ARRAY[
  'f_enum::text', 'f_domain::text', 'f_time::text', 'm_money::text', 'f_oid::text', 'm_inet::text', 'concat(f_time, f_oid)',
  'f_oid::int8', 'f_char::int', 'm_inet::cidr', 'family(e_inet)', 'set_masklen(f_inet, 8)', 'm_inet + 1',
  'f_time + interval ''1 h''', 'f_timetz AT TIME ZONE ''UTC''', 'e_timetz::time', '~ f_bit', 'f_varbit || e_varbit',
  'trunc(m_macaddr)', 'm_macaddr::macaddr8', 'm_money * 2', 'enum_last(f_enum)', 'f_enum::text::mood', 'sha256(f_bytea)',
  'substr(m_bytea, 2, 3)', 'md5(f_bytea)::"char"', 'f_enum < later']) WITH ORDINALITY a (expr, place)
ORDER BY place;

-- an enum whose values were added
ALTER TYPE mood ADD VALUE 'ecstatic';
UPDATE typed SET f_enum = 'ecstatic' WHERE id % 10 = 3;
SELECT agree($q$SELECT id, f_enum FROM typed WHERE f_enum > 'happy' ORDER BY f_enum, id$q$);
ALTER TYPE mood ADD VALUE 'meh' BEFORE 'ok';
UPDATE typed SET f_enum = 'meh' WHERE id % 10 = 4;
SELECT agree($q$SELECT f_enum, count(*) FROM typed GROUP BY f_enum$q$);
SELECT agree($q$SELECT count(*) FROM typed WHERE f_enum IN ('meh', 'happy')$q$);
SELECT agree($q$SELECT min(f_enum), max(f_enum), min(f_domain), max(later), max(f_enum) FILTER (WHERE id < 0) FROM typed$q$);
SELECT agree($q$SELECT id % 10, max(f_enum), count(*), min(f_enum) FROM typed GROUP BY ROLLUP (1) HAVING min(f_enum) < 'happy' OR count(*) > 1000$q$);
SELECT agree($q$SELECT max(m) FROM (SELECT id % 10, min(f_enum) AS m FROM typed GROUP BY 1) s$q$);
SELECT agree($q$SELECT min(f_enum) FROM nothing$q$);
SELECT agree($q$SELECT mode() WITHIN GROUP (ORDER BY f_enum), id % 7 FROM typed GROUP BY 2 ORDER BY 2$q$);
SELECT agree($q$SELECT min(f_enum) OVER (ORDER BY id), greatest(f_enum, later) FROM typed$q$);
SELECT agree($q$SELECT count(*) FROM typed WHERE f_enum < later$q$);
SELECT agree($q$SELECT count(*), sum(a.id) FROM typed a JOIN typed b ON a.id = b.id + 3 AND a.f_enum >= b.f_enum$q$);
SELECT agree($q$SELECT f_enum, id FROM typed ORDER BY f_enum, id$q$);
SELECT agree($q$SELECT f_enum, id FROM typed ORDER BY f_enum DESC NULLS LAST, id LIMIT 30$q$);
SELECT agree($q$SELECT f_enum, count(*) FROM typed GROUP BY f_enum ORDER BY f_enum DESC$q$);
SELECT agree($q$SELECT id, rank() OVER (PARTITION BY id % 3 ORDER BY f_enum), lag(f_enum) OVER (ORDER BY f_enum, id) FROM typed$q$);
SELECT agree($q$SELECT string_agg(id::text, ',' ORDER BY f_enum, id) FROM typed WHERE id % 9 = 0$q$);
-- values that are known become lists
SELECT agree($q$SELECT id, f_enum FROM typed WHERE f_enum < 'ok' OR f_enum >= 'elated'$q$);
SELECT op, agree(format('SELECT id, f_enum FROM typed WHERE f_enum %s %L', op, value)),
  agree(format('SELECT id, f_enum FROM typed WHERE NOT %L %s f_enum', value, op)),
  agree(format('SELECT count(*) FILTER (WHERE f_enum %s (SELECT %L::mood)) FROM typed', op, value))
FROM unnest(ARRAY['<', '<=', '>', '>=']) op, unnest(enum_range(NULL::mood)) value ORDER BY op, value;
SELECT agree($q$SELECT count(*) FROM typed WHERE f_enum BETWEEN 'meh' AND 'happy' AND f_domain > ANY (ARRAY['ok', 'sad']::mood[])$q$);
SELECT agree($q$SELECT id, (f_enum < NULL) IS NULL FROM typed$q$);
-- PostgreSQL does this part
SELECT agree($q$SELECT id, greatest(f_enum, 'ok') FROM typed$q$);
SET penumbra.mode = prefer;
SELECT f_enum, count(*) FROM typed GROUP BY f_enum ORDER BY f_enum;
SELECT min(f_enum), max(f_enum), count(*) FILTER (WHERE f_enum < 'ok') FROM typed;
-- more money than there is
SELECT sum(e_money) FROM typed WHERE id % 4 = 1;
RESET penumbra.mode;
\t off
-- a plan that was made before the value was added
CREATE TYPE step AS ENUM ('first', 'third');
CREATE TABLE steps (id int, s step);
INSERT INTO steps SELECT i, CASE WHEN i % 2 = 0 THEN 'first'::step ELSE 'third' END FROM generate_series(1, 1000) i;
VACUUM ANALYZE steps;
SELECT penumbra.load('steps') > 0 AS is_loaded;
SET penumbra.mode = prefer;
SET plan_cache_mode = force_generic_plan;
PREPARE ordered AS SELECT s, count(*) FROM steps WHERE s >= 'first' GROUP BY s ORDER BY s;
EXECUTE ordered;
ALTER TYPE step ADD VALUE 'second' AFTER 'first';
INSERT INTO steps VALUES (1001, 'second');
EXECUTE ordered;
-- a value that is not committed, and never will be
CREATE TYPE phase AS ENUM ('b', 'c');
CREATE TABLE phases AS SELECT i AS id, (enum_range(NULL::phase))[1 + i % 2] AS p FROM generate_series(1, 1000) i;
SELECT penumbra.load('phases') > 0 AS is_loaded;
EXPLAIN (COSTS OFF) SELECT min(p), max(p) FROM phases;
BEGIN;
ALTER TYPE phase ADD VALUE 'a' BEFORE 'b';
EXPLAIN (COSTS OFF) SELECT min(p), max(p) FROM phases;
SELECT min(p), max(p) FROM phases;
ROLLBACK;
EXPLAIN (COSTS OFF) SELECT min(p), max(p) FROM phases;
SELECT min(p), max(p) FROM phases;
-- values of a type of this transaction
BEGIN;
CREATE TYPE brief AS ENUM ('b', 'c', 'a');
ALTER TABLE phases ADD t brief DEFAULT 'c';
UPDATE phases SET t = 'a' WHERE id = 7;
SELECT t, count(*) FROM phases GROUP BY t ORDER BY t;
SELECT min(t), max(t) FROM phases WHERE t >= 'c';
ROLLBACK;
RESET penumbra.mode;
SELECT count(*) FROM penumbra.verify('typed') WHERE mismatches > 0;
SELECT penumbra.refresh('typed') >= 0 AS is_refreshed;
SELECT count(*) FROM penumbra.verify('typed') WHERE mismatches > 0;
DROP TABLE typed, nothing, forms, steps, phases;
DROP TYPE step, phase;
DROP DOMAIN mood_domain, clock, address, period;
DROP TYPE spot, place;
DROP TYPE mood;
DROP FUNCTION agree, rows_of;
