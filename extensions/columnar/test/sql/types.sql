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

-- f_: few values; m_: many; e_: extremes
CREATE TABLE typed (
  id int,
  f_enum mood, f_domain mood_domain,
  f_time time, m_time time, e_time clock, f_timetz timetz, m_timetz timetz, e_timetz timetz,
  f_bytea bytea, m_bytea bytea, e_bytea bytea, f_oid oid, m_oid oid, e_oid oid,
  f_money money, m_money money, e_money money, f_inet inet, m_inet inet, e_inet address, f_cidr cidr, m_cidr cidr,
  f_macaddr macaddr, m_macaddr macaddr, f_macaddr8 macaddr8, m_macaddr8 macaddr8,
  f_bit bit(5), m_bit bit(70), f_varbit varbit, m_varbit varbit, e_varbit varbit, f_char "char", m_char "char");
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
  CASE WHEN i % 5 > 0 THEN (i % 6)::bit(5) END, (('x' || md5(i::text))::bit(70)),
  (ARRAY['', '0', '1', '10', '00000000', '000000000', NULL, '1000000000000000'])[1 + i % 8]::varbit,
  (('x' || left(md5(i::text), 1 + i % 20))::bit(90))::varbit,
  (ARRAY[repeat('0', 63), repeat('0', 64), repeat('0', 65), repeat('1', 64), repeat('1', 128), NULL, repeat('0', 128)])[1 + i % 7]::varbit,
  CASE WHEN i % 4 > 0 THEN (ARRAY['a', 'b', ''])[1 + i % 3]::"char" END, (i % 256 - 128)::"char"
FROM generate_series(1, 2000) i;
-- equal values far apart, rows without any value, and a column that rows are older than
INSERT INTO typed (id) SELECT i FROM generate_series(2001, 2050) i;
ALTER TABLE typed ADD later mood DEFAULT 'happy', ADD later_inet inet DEFAULT '10.1.2.3/8', ADD later_oid oid DEFAULT 4000000000,
  ADD later_timetz timetz DEFAULT '10:00+02', ADD later_char "char" DEFAULT 'x', ADD later_bits varbit DEFAULT '101';
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
WHERE attrelid = 'typed'::regclass AND attnum > 1 AND NOT (form LIKE '%ARRAY(%' AND attname IN ('e_time', 'e_inet', 'f_cidr', 'm_cidr'))
GROUP BY a.attname, attnum ORDER BY attnum;
-- without rows
SELECT count(*), sum(1) FILTER (WHERE answer LIKE '% rows') AS agreed, string_agg(answer, E'\n') FILTER (WHERE answer NOT LIKE '% rows')
FROM pg_attribute a, forms, agree(replace(replace(form, 'COL', attname), 'TAB', 'nothing')) answer
WHERE attrelid = 'typed'::regclass AND attnum > 1 AND NOT (form LIKE '%ARRAY(%' AND attname IN ('e_time', 'e_inet', 'f_cidr', 'm_cidr'));
-- min() and max() where PostgreSQL has them
SELECT a.attname, agree(format('SELECT min(%1$I), max(%1$I) FROM typed', attname)),
  agree(format('SELECT id %% 10, min(%1$I), max(%1$I) FROM typed GROUP BY 1', attname)),
  agree(format('SELECT id, max(%1$I) OVER (ORDER BY id ROWS 3 PRECEDING) FROM typed', attname))
FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid
WHERE attrelid = 'typed'::regclass AND attnum > 1
  AND typname IN ('mood', 'mood_domain', 'time', 'clock', 'timetz', 'oid', 'money', 'inet', 'cidr', 'address')
ORDER BY attnum;
-- literals, prepared statements, other types than the column's
SELECT agree($q$SELECT id, f_enum FROM typed WHERE f_enum > 'ok' OR f_enum IN ('sad') ORDER BY f_enum, id$q$);
SELECT agree($q$SELECT id FROM typed WHERE m_time < '12:00' AND m_bytea > '\x80'$q$);
SELECT agree($q$SELECT id FROM typed WHERE m_oid > 3000000000 AND m_money > 12::money$q$);
SELECT agree($q$SELECT id FROM typed WHERE f_cidr = inet '10.0.0.0/8' OR m_inet <= '192.168.3.4'$q$);
SELECT agree($q$SELECT count(*) FROM typed a JOIN typed b ON a.f_inet = b.f_cidr$q$);
SELECT agree($q$SELECT id, f_cidr::inet, f_inet FROM typed WHERE f_cidr::inet >= f_inet$q$);
SELECT agree($q$SELECT id FROM typed WHERE m_char > 'A'::"char" AND f_bit = B'00011'$q$);
SELECT agree($q$SELECT octet_length(e_bytea), length(m_bytea), m_bytea || f_bytea FROM typed$q$);
SELECT agree($q$SELECT string_agg(f_bytea, '\x2c' ORDER BY id), array_agg(f_time ORDER BY id), array_agg(m_money ORDER BY id), array_agg(f_bytea ORDER BY id) FROM typed$q$);
SELECT agree($q$SELECT id FROM typed WHERE m_time = ANY (ARRAY(SELECT time '00:00' + i * interval '7.000123 s' FROM generate_series(1, 2000, 3) i))$q$);
SELECT agree($q$SELECT id, f_domain FROM typed WHERE f_domain >= 'ok' AND e_time = '24:00'$q$);
-- what the engine cannot do is refused, with the reason
CREATE FUNCTION reason(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN (rows_of(query, true))[3];
END $$;
SELECT expr, reason(format('SELECT %s FROM typed', expr)) FROM unnest(ARRAY[
  'sum(m_money)', 'bit_and(f_bit)', 'array_agg(f_enum ORDER BY id)', 'array_agg(f_oid ORDER BY id)',
  'array_agg(f_inet ORDER BY id)']) WITH ORDINALITY a (expr, place)
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
SELECT reason($q$SELECT min(f_enum) FROM typed$q$);
SELECT reason($q$SELECT mode() WITHIN GROUP (ORDER BY f_enum) FROM typed$q$);
SELECT agree($q$SELECT count(*) FROM typed WHERE f_enum < later$q$);
-- values that are known become lists
SELECT agree($q$SELECT id, f_enum FROM typed WHERE f_enum < 'ok' OR f_enum >= 'elated'$q$);
SELECT op, agree(format('SELECT id, f_enum FROM typed WHERE f_enum %s %L', op, value)),
  agree(format('SELECT id, f_enum FROM typed WHERE NOT %L %s f_enum', value, op)),
  agree(format('SELECT count(*) FILTER (WHERE f_enum %s (SELECT %L::mood)) FROM typed', op, value))
FROM unnest(ARRAY['<', '<=', '>', '>=']) op, unnest(enum_range(NULL::mood)) value ORDER BY op, value;
SELECT agree($q$SELECT count(*) FROM typed WHERE f_enum BETWEEN 'meh' AND 'happy' AND f_domain > ANY (ARRAY['ok', 'sad']::mood[])$q$);
SELECT agree($q$SELECT id, (f_enum < NULL) IS NULL FROM typed$q$);
-- PostgreSQL does this part
SELECT agree($q$SELECT f_enum, id FROM typed ORDER BY f_enum, id$q$);
SELECT agree($q$SELECT f_enum, count(*) FROM typed GROUP BY f_enum ORDER BY f_enum DESC$q$);
SELECT agree($q$SELECT id, greatest(f_enum, 'ok') FROM typed$q$);
SET penumbra.mode = prefer;
SELECT f_enum, count(*) FROM typed GROUP BY f_enum ORDER BY f_enum;
SELECT min(f_enum), max(f_enum), count(*) FILTER (WHERE f_enum < 'ok') FROM typed;
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
DROP DOMAIN mood_domain, clock, address;
DROP TYPE mood;
DROP FUNCTION agree, reason, rows_of;
