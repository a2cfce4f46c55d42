-- Prints cases of NUMERIC functions with PostgreSQL's own results, for numeric_golden_test:
--   function, three arguments, result (or ! and the SQLSTATE), payload of a numeric result in hex
-- separated by tabs; \N is an argument that the function does not take, or a payload that there is not.
-- Run in an empty scratch database, as superuser:
--   psql -X -q -v ON_ERROR_STOP=1 -v seed=0.5 -v count=4000 -v longest=300 -f numeric_cases.sql
\set QUIET on
set client_min_messages = warning;
set extra_float_digits = 1;
create extension if not exists pageinspect;
select setseed(:seed) \g /dev/null

create temporary table longest_case as select :longest::int as characters;

create function random_digits(length int) returns text language sql volatile as
$$ select coalesce(string_agg((floor(random() * 10))::int::text, ''), '') from generate_series(1, length) $$;

create function pick(variadic choices text[]) returns text language sql volatile as
$$ select choices[1 + floor(random() * array_length(choices, 1))::int] $$;

-- The text of a number; kinds of trouble are as frequent as plain numbers.
create function random_number() returns text language plpgsql volatile as $$
declare
  kind float8 := random();
  sign text := case when random() < 0.35 then '-' else '' end;
  whole int;
  fraction int;
begin
  if kind < 0.20 then       -- money
    return sign || floor(random() * 10 ^ floor(random() * 9))::bigint || '.' || random_digits(2);
  elsif kind < 0.40 then
    whole := floor(random() * 12);
    fraction := floor(random() * 10);
  elsif kind < 0.52 then
    whole := floor(random() * 24);
    fraction := floor(random() * 22);
  elsif kind < 0.58 then
    whole := floor(random() * 60);
    fraction := floor(random() * 60);
  elsif kind < 0.595 then
    whole := floor(random() * 150);
    fraction := floor(random() * 150);
  elsif kind < 0.5985 then
    whole := floor(random() * 1500);
    fraction := floor(random() * 1500);
  elsif kind < 0.599 then   -- the ends of the format
    return sign || pick('1e131071', '9.99e131071', '9999.5e131068', '1e70000', '5e65535', '1e-16383', '1e-10000', '7.5e-8192');
  elsif kind < 0.68 then
    return sign || pick('0', '0.0', '0.00', '0.0000', '0.00000000000', '1', '1.0', '1.00', '2', '3', '7', '10', '100');
  elsif kind < 0.76 then    -- near a power of ten
    return (pick('1', '-1', '5', '-5', '0.5', '9')::numeric * (10::numeric ^ floor(random() * 42 - 18)::int)
            + pick('0', '0', '1', '-1', '0.1', '-0.0001', '0.5')::numeric)::text;
  elsif kind < 0.84 then    -- edges of integer types and of base 10,000
    return (pick('32767', '-32768', '2147483647', '-2147483648', '9223372036854775807', '-9223372036854775808',
                 '170141183460469231731687303715884105727', '99999999999999999999999999999999999999',
                 '100000000000000000000000000000000000000', '999999999999999999', '1000000000000000000',
                 '9999', '10000', '99999999', '100000000', '0.9999', '0.99999999', '0.0001', '4294967296',
                 '9007199254740993', '16777217', '18446744073709551616')::numeric
            + pick('0', '0', '0.4', '0.5', '0.49999', '-0.5', '1', '-1', '0.00', '0.0000')::numeric)::text;
  elsif kind < 0.90 then    -- zeros inside and at the ends
    return sign || pick('1', '12', '120', '9000') || repeat('0', floor(random() * 14)::int) || pick('', '5', '0', '30') ||
           '.' || repeat('0', floor(random() * 12)::int) || pick('', '1', '25', '10', '500');
  elsif kind < 0.94 then
    return pick('NaN', 'Infinity', '-Infinity');
  elsif kind < 0.98 then
    return sign || random_digits(1 + floor(random() * 4)::int) || 'e' || floor(random() * 90 - 45)::int;
  else
    return sign || '0.' || repeat('0', floor(random() * 70)::int) || random_digits(1 + floor(random() * 20)::int);
  end if;
  return sign || '0' || random_digits(whole) || case when fraction > 0 then '.' || random_digits(fraction) else '' end;
end $$;

create function random_real() returns text language plpgsql volatile as $$
begin
  case floor(random() * 6)::int
    when 0 then return (random() * 1000)::numeric(10, 2)::text;
    when 1 then return floor(random() * 1000000000)::text;
    when 2 then return ((random() - 0.5) * 10 ^ (random() * 60 - 30))::text;
    when 3 then return ((random() - 0.5) * 10 ^ (random() * 20 - 6))::text;
    when 4 then return pick('NaN', 'Infinity', '-Infinity', '0', '-0', '1e-37', '3.4e38', '1234567', '999999.5', '123456789012345678',
                           '1234567890123456', '-9007199254740993', '999999999999999', '1000000000000001');
    else return (floor(random() * 2000000) / 1000)::text;
  end case;
end $$;

create table cases (id int primary key, function text, a text, b text, c text);
-- For functions that give a numeric, an SQL expression with the arguments as $1 (numeric), $2, $3.
create table functions (name text primary key, expression text, weight int, kind text);
insert into functions values
  ('add', '$1::numeric + $2::numeric', 8, 'two'), ('sub', '$1::numeric - $2::numeric', 8, 'two'),
  ('mul', '$1::numeric * $2::numeric', 8, 'two'), ('div', '$1::numeric / $2::numeric', 12, 'two'),
  ('mod', '$1::numeric % $2::numeric', 6, 'two'), ('neg', '-$1::numeric', 1, 'one'), ('abs', 'abs($1::numeric)', 1, 'one'),
  ('sign', 'sign($1::numeric)', 1, 'one'), ('round', 'round($1::numeric)', 2, 'one'), ('trunc', 'trunc($1::numeric)', 2, 'one'),
  ('round_to', 'round($1::numeric, $2::int)', 6, 'scale'), ('trunc_to', 'trunc($1::numeric, $2::int)', 5, 'scale'),
  ('floor', 'floor($1::numeric)', 3, 'one'), ('ceil', 'ceil($1::numeric)', 3, 'one'), ('sqrt', 'sqrt($1::numeric)', 5, 'one'),
  ('greatest', 'greatest($1::numeric, $2::numeric)', 2, 'near'), ('least', 'least($1::numeric, $2::numeric)', 2, 'near'),
  ('nullif', 'nullif($1::numeric, $2::numeric)', 1, 'near'), ('value', '$1::numeric', 6, 'one'),
  ('from_int2', '$1::int2::numeric', 1, 'int2'), ('from_int4', '$1::int4::numeric', 1, 'int4'), ('from_int8', '$1::int8::numeric', 1, 'int8'),
  ('from_float4', '$1::float4::numeric', 3, 'real'), ('from_float8', '$1::float8::numeric', 3, 'real'),
  ('average', '(select avg(x::numeric) from unnest(string_to_array($1, '' '')) x)', 3, 'list'),
  ('sum', '(select sum(x::numeric) from unnest(string_to_array($1, '' '')) x)', 2, 'list'),
  ('var_pop', '(select var_pop(x::numeric) from unnest(string_to_array($1, '' '')) x)', 2, 'list'),
  ('var_samp', '(select var_samp(x::numeric) from unnest(string_to_array($1, '' '')) x)', 2, 'list'),
  ('stddev_pop', '(select stddev_pop(x::numeric) from unnest(string_to_array($1, '' '')) x)', 2, 'list'),
  ('stddev_samp', '(select stddev_samp(x::numeric) from unnest(string_to_array($1, '' '')) x)', 3, 'list'),
  -- numeric(p, s) takes no parameters: the cast is made of them when the case runs.
  ('typmod', 'typmod', 6, 'typmod'),
  ('eq', '$1::numeric = $2::numeric', 2, 'near'), ('ne', '$1::numeric <> $2::numeric', 1, 'near'), ('lt', '$1::numeric < $2::numeric', 2, 'near'),
  ('le', '$1::numeric <= $2::numeric', 2, 'near'), ('gt', '$1::numeric > $2::numeric', 2, 'near'), ('ge', '$1::numeric >= $2::numeric', 2, 'near'),
  ('distinct', '$1::numeric is distinct from $2::numeric', 1, 'near'),
  ('int2', '$1::numeric::int2', 2, 'one'), ('int4', '$1::numeric::int4', 3, 'one'), ('int8', '$1::numeric::int8', 3, 'one'),
  ('float4', '$1::numeric::float4', 4, 'one'), ('float8', '$1::numeric::float8', 4, 'one'), ('text', '$1::numeric::text', 2, 'one');

create function random_list() returns text language plpgsql volatile as $$
declare
  list text := '';
  length int := 1 + floor(random() * 6);
  scale int := floor(random() * 5);
  kind float8 := random();
  any_number text;
begin
  for i in 1..length loop
    any_number := random_number();
    if length(any_number::numeric::text) > 1000 then  -- a square of its own would overflow
      any_number := '1';
    end if;
    list := list || case when i > 1 then ' ' else '' end ||
      case when kind < 0.4 then round(((random() - 0.2) * 10 ^ 6)::numeric, scale)::text
           when kind < 0.5 then pick('5', '5.0', '5.00', '5')
           else any_number end;
  end loop;
  return list;
end $$;

create procedure make_cases(case_count int) language plpgsql as $$
declare
  total int := (select sum(weight) from functions);
  f record;
  a text;
  b text;
  c text;
begin
  for i in 1..case_count loop
    select name, kind into f from (select *, sum(weight) over (order by name) as upto from functions) w
      where upto > (i * 7919) % total order by upto limit 1;
    a := random_number();
    b := null;
    c := null;
    if f.name = 'float4' and random() < 0.4 then  -- next to the middle of two floats
      a := round(1 + (2 * floor(random() * 8388608)::int + 1)::numeric / 16777216, 15)::text;
    end if;
    case f.kind
      when 'two' then
        b := random_number();
        if f.name = 'div' and random() < 0.15 then  -- quotients that end in 5 one digit past their scale
          a := (140001 + 2 * floor(random() * 1e8)::bigint)::text || pick('', '.0', '.000000');
          b := pick('131072', '-131072', '13107.2', '33554432', '2097152', '8192');
        end if;
      when 'near' then
        b := case when random() < 0.3 or a in ('NaN', 'Infinity', '-Infinity') then random_number()
                  when random() < 0.5 then (a::numeric + pick('0', '0.0', '0.000', '0.00000000000000000000')::numeric)::text
                  when random() < 0.3 then  -- past 38 digits
                    (a::numeric + pick('1e-45', '-1e-45', '1e-60', '-1e-60')::numeric)::text
                  else (a::numeric + pick('1', '-1', '0.01', '-0.001', '0.0000000001')::numeric)::text end;
      when 'scale' then b := floor(random() * 30 - 12)::int::text;
      when 'typmod' then
        b := (1 + floor(random() * 40))::int::text;
        c := floor(random() * 14 - 4)::int::text;
        if random() < 0.5 then
          b := (c::int + 18 + floor(random() * 20)::int)::text;
        end if;
      when 'int2' then a := floor((random() - 0.5) * 65535)::int::text;
      when 'int4' then a := pick(floor((random() - 0.5) * 4294967295)::bigint::text, '-2147483648', '0', '10000');
      when 'int8' then a := pick(floor((random() - 0.5) * 2 ^ floor(random() * 60))::bigint::text, '-9223372036854775808', '9223372036854775807');
      when 'real' then a := random_real();
      when 'list' then a := random_list();
      else null;
    end case;
    insert into cases values (i, f.name, a, b, c);
  end loop;
end $$;

-- A plain column, so that the page holds the payload itself.
create table results (id int, number numeric, answer text);
alter table results alter column number set storage plain;
alter table results alter column answer set storage external;

create procedure run_cases() language plpgsql as $$
declare
  one record;
  number numeric;
  answer text;
begin
  for one in select cases.*, expression, kind from cases join functions on name = function order by id loop
    number := null;
    answer := null;
    begin
      if one.kind = 'typmod' then
        execute format('select $1::numeric::numeric(%s, %s)', one.b, one.c) into number using one.a;
      elsif one.function in ('eq', 'ne', 'lt', 'le', 'gt', 'ge', 'distinct', 'int2', 'int4', 'int8', 'float4', 'float8', 'text') then
        execute 'select (' || one.expression || ')::text' into answer using one.a, one.b, one.c;
      else
        execute 'select ' || one.expression into number using one.a, one.b, one.c;
      end if;
    exception when others then
      answer := '!' || sqlstate;
    end;
    if length(number::text) > (select characters from longest_case) then
      continue;
    end if;
    answer := coalesce(answer, number::text, 'NULL');
    if pg_column_size(number) > 6000 then  -- too long for a page
      number := null;
    end if;
    insert into results values (one.id, number, answer);
  end loop;
end $$;

call make_cases(:count);
delete from cases where greatest(length(a), length(b)) > (select characters from longest_case);
call run_cases();

create temporary table payloads as
  -- The stored value with its length: one byte, odd, for short values, else four.
  select ('x' || lpad(ltrim(attrs[1]::text, '\x'), 8, '0')) as id_hex, attrs[2] as stored
  from generate_series(0, pg_relation_size('results')::int / 8192 - 1) block,
       lateral (select t_attrs as attrs from heap_page_item_attrs(get_raw_page('results', block), 'results')) items;
create temporary table payload_of as
  select get_byte(decode(substr(id_hex, 2), 'hex'), 0) + get_byte(decode(substr(id_hex, 2), 'hex'), 1) * 256
           + get_byte(decode(substr(id_hex, 2), 'hex'), 2) * 65536 as id,
         encode(substr(stored, case when get_byte(stored, 0) % 2 = 1 then 2 else 5 end), 'hex') as payload
  from payloads where stored is not null;
copy (select function, a, b, c, answer, payload from cases join results using (id) left join payload_of using (id) order by function, id)
  to stdout;
