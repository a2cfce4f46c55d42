-- Every query gives the same rows, or the same error, with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET extra_float_digits = 3;
SET timezone = 'Europe/Berlin';

\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

CREATE TABLE facts (
  id int, a int4, b int8, c numeric(12,2), d date, ts timestamp, tz timestamptz, s text COLLATE "C",
  v varchar(20) COLLATE "C", ch char(8), f float8, r float4, bl bool, u uuid, g int2, n numeric);
INSERT INTO facts
SELECT i, nullif((i * 7919) % 1000, 17), i::int8 * 1000003, (i % 10007) / 100.0,
       date '1995-01-01' + i % 2000, timestamp '2000-01-01' + i * interval '37 min',
       timestamptz '2010-06-01 00:00+00' + i * interval '11 min', 'str' || i % 53,
       CASE WHEN i % 7 = 0 THEN NULL ELSE 'v' || i % 11 END, 'c' || i % 5, i / 7.0, i / 3.0, i % 3 = 0,
       md5(i::text)::uuid, (i % 13)::int2, CASE i % 4 WHEN 0 THEN i WHEN 1 THEN i / 8.0 WHEN 2 THEN NULL
       ELSE i * 1e25 END
FROM generate_series(1, 20000) i;
CREATE TABLE nothing (LIKE facts);
VACUUM ANALYZE facts;
DO $$ BEGIN PERFORM penumbra.load('facts'); END $$;
-- some pages must come from the heap
UPDATE facts SET a = NULL WHERE id % 1777 = 0;

\t on
SELECT agree($q$select count(*) from facts$q$);
SELECT agree($q$select count(*) from facts where a is null$q$);
SELECT agree($q$select sum(a), avg(a), min(a), max(a), count(a) from facts$q$);
-- of pairs; rounded because the rows come in another order
SELECT agree($q$select round(corr(a, g)::numeric, 9), round(regr_slope(a, g)::numeric, 9), round(regr_slope(g, a)::numeric, 9),
  round(regr_intercept(a, g)::numeric, 6), round(regr_r2(a, g)::numeric, 9), regr_count(a, g), regr_avgx(a, g), regr_avgy(a, g),
  round(regr_sxx(a, g)::numeric, 3), round(regr_syy(a, g)::numeric, 3), round(regr_sxy(a, g)::numeric, 3),
  round(covar_pop(a, g)::numeric, 6), round(covar_samp(a, g)::numeric, 6) from facts$q$);
SELECT agree($q$select g, round(covar_samp(a, b % 100)::numeric, 6), regr_count(a, b) filter (where bl), count(*) from facts group by g$q$);
SELECT agree($q$select s, round(corr(distinct a % 10, g)::numeric, 9), regr_count(distinct a % 10, g) from facts group by s$q$);
SELECT agree($q$select corr(f, f), regr_count(f, f), regr_r2(f, f) from nothing$q$);
SELECT agree($q$select covar_pop(f * 1e200, f * 1e200) from facts$q$);
SELECT agree($q$select corr(case when id = 7 then 'NaN' else f end, r), regr_avgx(1, r / nullif(a, 3)) is null from facts where id < 9$q$);
SELECT agree($q$select sum(b), avg(b), min(c), max(c), sum(c), avg(c) from facts where a between 100 and 300$q$);
SELECT agree($q$select s, v, count(*) from facts group by s, v order by s, v nulls first limit 20$q$);
SELECT agree($q$select s, v, count(*) from facts group by s, v order by count(*) desc, s, v limit 7 offset 3$q$);
SELECT agree($q$select distinct g from facts$q$);
SELECT agree($q$select distinct g, bl from facts order by g desc, bl$q$);
SELECT agree($q$select * from facts where id < 50 order by id$q$);
SELECT agree($q$select * from facts order by u limit 5$q$);
SELECT agree($q$select id, a, c, s from facts where s = 'str7' and a < 50 order by id desc$q$);
SELECT agree($q$select id from facts order by c desc nulls last, id limit 10$q$);
SELECT agree($q$select a, id from facts order by a desc, id limit 10$q$);
SELECT agree($q$select a, id from facts order by a nulls first, id limit 10$q$);
SELECT agree($q$select a+b, c*2, upper(s), length(v) from facts where id % 1000 = 1 order by id$q$);
SELECT agree($q$select d, count(*) from facts where d >= date '1996-01-01' and d < date '1996-02-01' group by d order by d$q$);
SELECT agree($q$select date_trunc('month', ts), count(*) from facts group by 1 order by 1$q$);
SELECT agree($q$select date_trunc('month', tz), count(*) from facts group by 1 order by 1$q$);
SELECT agree($q$select extract(year from d), sum(c) from facts group by 1 order by 1$q$);
SELECT agree($q$select extract(hour from tz), count(*) from facts group by 1 order by 1$q$);
SELECT agree($q$select s like 'str1%', count(*) from facts group by 1$q$);
SELECT agree($q$select count(*) from facts where s like '%r1_' and v is not null$q$);
SELECT agree($q$select count(*) from facts where s in ('str1','str2','nope') or g = any('{1,2,3}')$q$);
SELECT agree($q$select count(*) from facts where g not in (1,2,null)$q$);
SELECT agree($q$select count(*) from facts where ch = 'c1'$q$);
SELECT agree($q$select ch, count(*) from facts group by ch order by ch$q$);
SELECT agree($q$select count(distinct a), count(distinct s), count(distinct c) from facts$q$);
SELECT agree($q$select g, count(distinct s) from facts group by g order by g$q$);
-- texts of few and of many groups, and more than the memory holds
SELECT agree($q$select g, bl, count(distinct s), count(distinct v) filter (where a < 500), count(distinct u::text), count(a)
  from facts group by g, bl$q$);
SELECT agree($q$select a, count(distinct s), count(distinct v || s) from facts group by a$q$);
SELECT agree($q$select g, v, count(distinct s) from facts group by rollup(g, v)$q$);
SET work_mem = '64kB';
SELECT agree($q$select a, count(distinct s), count(distinct u::text) from facts group by a$q$);
SELECT agree($q$select count(distinct u::text || ' and a text that is long') from facts$q$);
RESET work_mem;
SELECT agree($q$select sum(case when bl then a else 0 end), sum(a) filter (where g > 3) from facts$q$);
SELECT agree($q$select g, sum(a) from facts group by g having sum(a) > 1900000 order by g$q$);
SELECT agree($q$select g, sum(a)*2+1, max(s) from facts group by g having count(*) > 100 and min(a) = 0 order by 2$q$);
SELECT agree($q$select stddev(a), variance(c), stddev_pop(b), var_pop(g) from facts$q$);
SELECT agree($q$select bool_and(bl), bool_or(bl), every(bl) from facts$q$);
SELECT agree($q$select max(u::text) from facts$q$);
SELECT agree($q$select sum(a/(g-5)) from facts$q$);
SELECT agree($q$select a/(id-100) from facts where id >= 100 order by id$q$);
SELECT agree($q$select sum(b*b*b) from facts$q$);
SELECT agree($q$select coalesce(v,'none'), nullif(g,3), greatest(a,g), least(a,g,5) from facts where id<100 order by id$q$);
SELECT agree($q$select count(*) from facts where a is distinct from 5$q$);
SELECT agree($q$select count(*) from facts where bl is true or bl is unknown$q$);
SELECT agree($q$select substring(s from 2 for 3), count(*) from facts group by 1 order by 1$q$);
SELECT agree($q$select left(s,4) || '-' || right(s,1), count(*) from facts group by 1 order by 1$q$);
SELECT agree($q$select round(c,1), trunc(c), floor(c), ceil(c), abs(-c), sign(c) from facts where id<60 order by id$q$);
SELECT agree($q$select round(f), floor(f), ceil(f), abs(f), sqrt(f) from facts where id<60 order by id$q$);
SELECT agree($q$select c::int, c::float8, a::numeric, a::text, f::int4, b::float4 from facts where id<60 order by id$q$);
SELECT agree($q$select d + 3, d - 1, d - date '1995-01-01', ts + interval '1 month 2 days', tz - interval '1 day' from facts where id<40 order by id$q$);
SELECT agree($q$select ts - timestamp '2001-01-01' from facts where id<30 order by id$q$);
SELECT agree($q$select count(*) from facts where ts < date '2001-01-01'$q$);
SELECT agree($q$select count(*) from facts where tz < timestamp '2010-07-01' and d > timestamp '1996-01-01'$q$);
SELECT agree($q$select t1.g, count(*) from facts t1 join facts t2 on t1.id = t2.a where t2.g = 3 group by t1.g order by 1$q$);
SELECT agree($q$with x as (select g, sum(a) sa from facts group by g) select sum(sa) from x$q$);
SELECT agree($q$select * from (select g, s, sum(c) sc from facts group by g, s) q where sc > 900 order by sc desc, s limit 5$q$);
SELECT agree($q$select (select max(a) from facts), (select count(*) from facts where g=2)$q$);
SELECT agree($q$select g, (select max(b) from facts) from facts group by g order by g$q$);
SELECT agree($q$select g, sum(sum(a)) over (order by g) from facts group by g order by g$q$);
SELECT agree($q$select exists(select 1 from facts where a = 77)$q$);
SELECT agree($q$select count(*) from facts where a = (select max(a) from facts)$q$);
SELECT agree($q$select position('r' in s), strpos(s,'7'), replace(s,'str','x'), reverse(s), btrim(ch), ltrim(s,'s'), octet_length(s) from facts where id<30 order by id$q$);
SELECT agree($q$select lower(s), upper(v), s ilike 'STR1%' from facts where id<30 order by id$q$);
SELECT agree($q$select count(*) from facts where s > 'str3' and s <= 'str5'$q$);
SELECT agree($q$select min(s), max(v), min(ch), max(d), min(ts), max(tz), min(f) from facts$q$);
SELECT agree($q$select id, s from facts order by s collate "C", id limit 5$q$);
SELECT agree($q$select g, count(*) from facts group by g order by count(*) desc, g offset 4$q$);
SELECT agree($q$select id from facts order by id limit 0$q$);
SELECT agree($q$select id from facts order by id limit null offset 49990$q$);
SELECT agree($q$select avg(a)::float8 > 400, sum(f) > 0 from facts$q$);
SELECT agree($q$select f, count(*) from facts where id < 50 group by f order by f$q$);
SELECT agree($q$select u from facts where u > '80000000-0000-0000-0000-000000000000' order by u limit 3$q$);
SELECT agree($q$select numeric '1.50' + c, c / 3, c % 0.7, c * c, -c from facts where id < 50 order by id$q$);
SELECT agree($q$select power(f, 2), exp(f/1000), ln(f), sqrt(c), power(c,2) from facts where id < 20 order by id$q$);
SELECT agree($q$select sum(id::int2) from facts$q$);
SELECT agree($q$select count(*) from facts where c = 5$q$);
SELECT agree($q$select case g when 1 then 'one' when 2 then 'two' else 'many' end, count(*) from facts group by 1 order by 1$q$);
SELECT agree($q$select count(*) from facts where not (a > 5 and g < 3) or v like '%1'$q$);
SELECT agree($q$select g, count(*) from facts where n is not null group by g order by g$q$);
SELECT agree($q$select n, count(*) from facts where id < 300 group by n order by n$q$);
SELECT agree($q$select min(n), max(n), sum(n), avg(n), count(n) from facts$q$);
SELECT agree($q$select count(*), sum(a), min(s), max(d) from nothing$q$);
SELECT agree($q$select g, count(*) from nothing group by g$q$);
SELECT agree($q$select sum(a) from facts where id < 0$q$);
SELECT agree($q$select id from facts where a = (select min(a) from facts) order by id$q$);
SELECT agree($q$select f.g, n.g from facts f join facts n on f.id = n.id + 1 where f.id < 30 order by f.id$q$);
SELECT agree($q$select g, sum(c) from (select * from facts where id > 500) q group by g order by g$q$);
SELECT agree($q$select count(*) from facts where g = any (array[1, a, 3]::int[])$q$);
SELECT agree($q$select count(*) from facts where s like any (array['str1%', '%7'])$q$);
SELECT agree($q$select count(*) from facts where s <> all (array['str1', 'str2'])$q$);
SELECT agree($q$select count(*) from facts where bl$q$);
SELECT agree($q$select count(*) from facts where not bl or bl is null$q$);
SELECT agree($q$select bl, count(*) from facts group by bl having bl$q$);
SELECT agree($q$select g % 3 as k, count(*), sum(a + b) from facts group by k order by k desc$q$);
SELECT agree($q$select count(*) from facts where (a, g) = (5, 3)$q$);
SELECT agree($q$select case when a > 500 then 1 / (a - a) else 0 end from facts where a < 400$q$);
SELECT agree($q$select case when a < 500 then 0 else 1 / (g - 3) end from facts where a = 100$q$);
SELECT agree($q$select coalesce(a, 1 / (id - id)) from facts where a is not null and id < 100$q$);
SELECT agree($q$select (a * 3000000) from facts$q$);
SELECT agree($q$select g::int2 * 20000::int2 from facts$q$);
SELECT agree($q$select b * 10000000000 from facts$q$);
SELECT agree($q$select sum(a), sum(a) filter (where a > 500), count(*) filter (where bl) from facts$q$);
SELECT agree($q$select a, sum(c) as total from facts group by a order by total desc, a limit 15$q$);
SELECT agree($q$select a, sum(c) as total from facts group by a order by total desc, a offset 990$q$);
SELECT agree($q$select distinct s from facts order by s$q$);
SELECT agree($q$select distinct a % 10, bl from facts$q$);
SELECT agree($q$select count(*) from (select distinct a, g from facts) q$q$);
SELECT agree($q$select g, round(avg(f)::numeric, 4), round(sum(r)::numeric, -1) from facts group by g having count(*) > 1539 order by g$q$);
SELECT agree($q$select id, row_number() over (order by id) from facts where g = 3 and a < 50 order by id$q$);
SELECT agree($q$select * from facts where id between 100 and 110 order by id$q$);
SELECT agree($q$select d + interval '1 month', ts::date, tz::date, tz at time zone 'UTC' from facts where id < 20 order by id$q$);
SELECT agree($q$select date_trunc('week', tz), extract(dow from tz), extract(epoch from ts) from facts where id < 20 order by id$q$);
SELECT agree($q$select ch || 'x', length(ch), ch = 'c1' from facts where id < 10 order by id$q$);
SELECT agree($q$select v::varchar(1), s::char(4), c::numeric(5,1) from facts where id < 20 order by id$q$);
SELECT agree($q$select c::numeric(3,1) from facts$q$);
SELECT agree($q$select '123'::int + a from facts where id < 5 order by id$q$);
SELECT agree($q$select exists (select 1 from facts where g = 12), not exists (select 1 from nothing)$q$);
SELECT agree($q$select id from facts where id in (select id from facts where a = 3) order by id$q$);
SELECT agree($q$select sum(x.c) from facts x, generate_series(1, 3) y$q$);
SELECT agree($q$with w as materialized (select g, count(*) n from facts group by g) select max(n), min(n) from w$q$);
SELECT agree($q$select g, count(*) from facts group by g union all select 99, count(*) from facts$q$);
SELECT agree($q$select id from facts order by s desc, id limit 5$q$);
SELECT agree($q$select id from facts order by v nulls first, id desc limit 5$q$);
SELECT agree($q$select id from facts order by ch, id limit 3 offset 2$q$);
SELECT agree($q$select id, f from facts order by f desc limit 3$q$);
SELECT agree($q$select max(id) from facts group by g having max(id) > 19990$q$);
SELECT agree($q$select interval '1 day' * g from facts where id < 5 order by id$q$);
SELECT agree($q$select avg(a), stddev(a), var_pop(c), stddev_samp(f) from facts where id < 2$q$);
SELECT agree($q$select count(*) from facts where d = date '1995-06-01' or ts > timestamp '2001-01-01'$q$);
SELECT agree($q$select count(distinct n), count(distinct u), sum(distinct g) from facts$q$);
SELECT agree($q$select id from facts limit 0$q$);
SELECT agree($q$select count(*) from facts where s between 'str2' and 'str3'$q$);
SELECT agree($q$select 'all', count(*), sum(c), max(s) from facts group by 1$q$);
SELECT agree($q$select 'none', sum(c) from facts where id < 0 group by 1$q$);
SELECT agree($q$select 1 as one from facts group by one$q$);
SELECT agree($q$select 1 as one from nothing group by one$q$);
SELECT agree($q$select sum(a) from facts group by now() having sum(a) > 5 and count(*) > 7$q$);
SELECT agree($q$select sum(a) from facts where id = 1 group by now() having count(*) > 7$q$);
SELECT agree($q$select k, sum(a) * 2 from (select 'x'::text k, * from facts) f group by k order by k limit 3$q$);
-- what is different in each row groups and orders
SET penumbra.mode = prefer;
SELECT count(*) FROM (SELECT g, random() FROM facts WHERE id <= 1000 GROUP BY g, random()) x;
SELECT count(*) FROM (SELECT random() FROM facts WHERE id <= 1000 GROUP BY 1) x;
SELECT count(*) FROM (SELECT DISTINCT g, random() FROM facts WHERE id <= 1000) x;
SELECT count(DISTINCT x) > 1 FROM (SELECT (SELECT array_agg(id) FROM (SELECT id FROM facts WHERE k > 0
	ORDER BY a, random() LIMIT 20) y) x FROM generate_series(1, 5) t(k)) z;
RESET penumbra.mode;
-- Days and instants that the other type does not have are compared as PostgreSQL compares them: no error, so the
-- ordinary plan is not needed.
CREATE FUNCTION compare(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  query text := 'SELECT id FROM extremes WHERE ' || condition;
BEGIN
  SET LOCAL penumbra.mode = 'require';
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF) ' || query LOOP
    IF line ~ 'Ordinary Plan' THEN RETURN line; END IF;
  END LOOP;
  RETURN agree(query);
END $$;
SET timezone = 'Asia/Tokyo';
CREATE TABLE extremes AS SELECT row_number() OVER () AS id, d::date, ts::timestamp, tz::timestamptz
FROM unnest('{5874897-12-31,294277-01-01,294276-12-31,2000-01-01,4713-01-01 BC,infinity,-infinity}'::text[]) d,
  unnest('{294276-12-31 23:59:59.999999,2000-01-01,4713-01-01 00:00 BC,infinity,-infinity}'::text[]) ts,
  unnest('{294276-12-31 23:59:59.999999 UTC,2000-01-01 UTC,4713-01-01 00:00 UTC BC,infinity,-infinity}'::text[]) tz;
VACUUM ANALYZE extremes;
DO $$ BEGIN PERFORM penumbra.load('extremes'); END $$;
SELECT compare(format('%s %s %s', x, operator, y)) FROM unnest('{<,<=,=,<>,>=,>}'::text[]) operator,
  (VALUES ('d', 'ts'), ('ts', 'd'), ('d', 'tz'), ('tz', 'd'), ('ts', 'tz'), ('tz', 'ts')) pairs (x, y);
\t off
DROP TABLE facts, nothing, extremes;
DROP FUNCTION agree, rows_of, compare;
