-- Joins by the bounds of ranges: the same rows with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

-- Numbers that differ behind the digits by which bounds are searched, bounds that there are not, and empty ranges.
CREATE TABLE a (id int, v numeric, w numeric(10,3), r numrange, m nummultirange, ir int4range, d date, dr daterange, lo numeric(8,2), hi numeric) WITH (autovacuum_enabled = off);
INSERT INTO a SELECT i, CASE i % 17 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN '-Infinity' WHEN 4 THEN -(i % 50) * 1.0001 WHEN 5 THEN 123456789.123456789 + i % 5 / 1000000.0
    WHEN 6 THEN 123456789.1234567 WHEN 7 THEN -123456789.1234567 ELSE (i * 7 % 400) / 4.0 END,
  CASE WHEN i % 11 = 0 THEN NULL ELSE (i * 13 % 1000) / 8.0 - 20 END,
  CASE i % 14 WHEN 0 THEN NULL WHEN 1 THEN 'empty' WHEN 2 THEN numrange(NULL, i % 90) WHEN 3 THEN numrange(i % 90, NULL, '()') WHEN 4 THEN numrange(NULL, NULL)
    WHEN 5 THEN numrange(-(i % 40) * 1.5 - 3, -(i % 3), '[]') WHEN 6 THEN numrange(123456789.123456, 123456789.1234568 + i % 3, '(]') WHEN 7 THEN numrange(i % 7, 'NaN')
    WHEN 8 THEN numrange(i % 50, i % 50) WHEN 9 THEN numrange(-123456789.1234568, -123456789.1234566) ELSE numrange(i % 80, i % 80 + i % 9 / 2.0, '(]') END,
  CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN nummultirange(numrange(i % 20, i % 20 + 2), numrange(60, 60 + i % 9)) ELSE nummultirange(numrange(i % 70, i % 70 + 1)) END,
  CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN 'empty' WHEN 2 THEN int4range(NULL, i % 50) WHEN 3 THEN int4range(i % 80, NULL) ELSE int4range(i % 80, i % 80 + i % 6) END,
  date '2024-01-01' + i % 60, CASE i % 8 WHEN 0 THEN 'empty' WHEN 1 THEN NULL ELSE daterange(date '2024-01-01' + i % 50, date '2024-01-01' + i % 50 + i % 7) END,
  CASE WHEN i % 9 = 0 THEN NULL ELSE i % 60 / 2.0 END, CASE WHEN i % 8 = 0 THEN NULL ELSE i % 60 / 2.0 + i % 6 / 3.0 END
FROM generate_series(1, 500) i;
CREATE TABLE b (LIKE a) WITH (autovacuum_enabled = off);
INSERT INTO b SELECT * FROM a WHERE id % 3 > 0;
VACUUM ANALYZE a, b;
SELECT penumbra.load(name, ARRAY['id', 'v', 'w', 'r', 'm', 'ir', 'd', 'dr', 'lo', 'hi']) FROM (VALUES ('a'::regclass), ('b')) t(name);

CREATE TABLE conditions (c text, id serial);
INSERT INTO conditions (c) SELECT format(c, v) FROM (VALUES ('a.v'), ('a.w'), ('a.v + 1'), ('a.id::numeric')) v(v),
  (VALUES ('%s <@ b.r'), ('b.r @> (%s)'), ('numrange(b.lo, b.hi) @> (%s)'), ('%s <@ numrange(b.lo, b.hi, ''(]'')'), ('%s <@ b.m')) c(c);
INSERT INTO conditions (c) VALUES ('a.r && b.r'), ('a.r @> b.r'), ('a.r <@ b.r'), ('a.r << b.r'), ('a.r >> b.r'), ('a.r &< b.r'), ('a.r &> b.r'), ('a.r -|- b.r'), ('a.m && b.m'), ('a.m @> b.m'), ('a.m << b.r'),
  ('numrange(a.lo, a.hi) && numrange(b.lo, b.hi)'), ('numrange(a.lo, a.hi, ''[]'') && b.r'), ('numrange(a.lo, NULL) @> b.w'), ('numrange(-1000, b.hi) @> a.w'), ('a.w <@ numrange(b.lo, b.hi) AND a.lo < b.w'),
  ('a.id <@ b.ir'), ('a.ir @> b.ir'), ('a.ir && b.ir'), ('a.ir << b.ir'), ('a.ir &> b.ir'), ('a.d <@ b.dr'), ('b.dr @> a.dr'), ('a.dr &< b.dr'), ('a.v <@ b.r AND a.id <@ b.ir'), ('a.v <@ b.r AND a.w > b.w'),
  ('a.v <@ b.r AND a.id % 7 = b.id % 7');
SELECT c, agree(format('SELECT count(*), sum(a.id), sum(b.id) FROM a JOIN b ON %s', c)) AS joined,
  agree(format('SELECT count(*), sum(a.id), sum(b.id) FROM a LEFT JOIN b ON %s', c)) AS outer_joined,
  agree(format('SELECT count(*), sum(id) FROM a WHERE EXISTS (SELECT FROM b WHERE %s)', c)) AS found,
  agree(format('SELECT count(*), sum(id) FROM a WHERE NOT EXISTS (SELECT FROM b WHERE %s)', c)) AS missed
FROM (SELECT c FROM conditions ORDER BY id) s;
-- Errors are those of PostgreSQL.
SET penumbra.mode = prefer;
SELECT count(*) FROM a JOIN b ON numrange(a.w, 5) @> b.w;
SELECT count(*) FROM a JOIN b ON numrange(a.lo, b.hi) @> a.w;
RESET penumbra.mode;
DROP TABLE a, b, conditions;
DROP FUNCTION agree, rows_of;
