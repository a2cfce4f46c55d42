-- Statements in loops: rows, checksums, parameters, errors.
SET search_path = public, penumbra_bench;
CREATE TABLE t (id int PRIMARY KEY, name text, amount numeric);
INSERT INTO t SELECT i, 'name ' || i, i / 7.0 FROM generate_series(1, 1000) i;
ANALYZE t;

-- as many rows as executions bring, and time passed
SELECT executions, rows, ns_per_execution > 0 AS took_time, read_only
FROM exec_query_in_loop('SELECT * FROM t WHERE id <= $1', 100, 3);
SELECT executions, rows, read_only FROM exec_query_in_loop('SELECT 1', 7);
SELECT executions, rows FROM exec_query_in_loop('SELECT FROM t', 2);

-- types of parameters: known, unknown (text), null, an array in place of the list
SELECT rows FROM exec_query_in_loop('SELECT FROM t WHERE id = $1 AND name = $2', 10, 5, 'name 5');
SELECT rows FROM exec_query_in_loop('SELECT FROM t WHERE id = $1::int', 10, '5');
SELECT rows FROM exec_query_in_loop('SELECT FROM t WHERE id = $1', 10, NULL::int);
SELECT rows FROM exec_query_in_loop('SELECT FROM t WHERE id IN ($1, $2, $3)', 10, VARIADIC ARRAY[1, 2, 5000]);

-- the checksum: of the rows, whatever their order; other for other rows, nulls and columns
CREATE FUNCTION checksum(query text, n bigint DEFAULT 1) RETURNS bigint LANGUAGE sql AS
'SELECT checksum FROM exec_query_in_loop(query, n)';
SELECT checksum('SELECT * FROM t ORDER BY id') = checksum('SELECT * FROM t ORDER BY id DESC') AS any_order,
    checksum('SELECT * FROM t') = checksum('SELECT * FROM t', 2) AS as_often,
    checksum('SELECT * FROM t') = checksum('SELECT * FROM t WHERE id <> 500') AS row_left_out,
    checksum('SELECT 1, 2') = checksum('SELECT 2, 1') AS order_of_columns,
    checksum('SELECT 1') = checksum('SELECT NULL::int') AS null,
    checksum('SELECT ''a''::text') = checksum('SELECT ''b''::text') AS texts,
    checksum('SELECT ''a''::cstring') = checksum('SELECT ''b''::cstring') AS cstrings,
    checksum('SELECT ''a''::name') = checksum('SELECT ''b''::name') AS names;
-- toasted and plain texts are the same value
CREATE TABLE long (v text);
INSERT INTO long SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1000) i;
SELECT checksum('SELECT v FROM long') = checksum('SELECT v || '''' FROM long') AS same;
-- 64 bits that go round: k times the checksum of one execution
SELECT DISTINCT (checksum('SELECT name FROM t WHERE id = 7', k)::numeric
    - k * checksum('SELECT name FROM t WHERE id = 7')::numeric) % 18446744073709551616 AS rest
FROM generate_series(1, 20) k;

-- keys in turn
SELECT executions, rows, read_only FROM exec_query_in_key_loop('SELECT FROM t WHERE id = $1', 10, ARRAY[1, 2, 5000]);
SELECT a.checksum = b.checksum AS as_one_query
FROM exec_query_in_key_loop('SELECT id, name FROM t WHERE id = $1', 1000, (SELECT array_agg(id) FROM t)) a,
    exec_query_in_loop('SELECT id, name FROM t', 1) b;
SELECT rows FROM exec_query_in_key_loop('SELECT FROM t WHERE name = $1', 4, ARRAY['name 1', 'x']);
SELECT rows FROM exec_query_in_key_loop('SELECT FROM t WHERE id = $1', 4, '[5:6]={1,2}'::int[]);

-- what writes, locks or is volatile gets a snapshot of its own each time and sees what it did
CREATE TABLE counter (n int);
INSERT INTO counter VALUES (0);
SELECT executions, rows, read_only FROM exec_query_in_loop('UPDATE counter SET n = n + $1', 100, 2);
SELECT * FROM counter;
SELECT rows, read_only FROM exec_query_in_loop('WITH u AS (UPDATE counter SET n = n + 1 RETURNING n) SELECT * FROM u', 10);
SELECT rows, read_only FROM exec_query_in_loop('SELECT * FROM counter FOR UPDATE', 10);
SELECT rows, read_only FROM exec_query_in_loop('INSERT INTO counter SELECT count(*) FROM counter RETURNING n', 3);
SELECT * FROM counter ORDER BY n;
CREATE FUNCTION count_up() RETURNS int LANGUAGE sql VOLATILE AS 'UPDATE counter SET n = n + 1 WHERE n > 50 RETURNING n';
SELECT rows, read_only FROM exec_query_in_loop('SELECT count_up()', 10);
SELECT max(n) FROM counter;
SELECT executions, rows FROM exec_query_in_loop('SET work_mem = ''5MB''', 2);
-- more than one statement: the last one's rows
SELECT rows FROM exec_query_in_loop('INSERT INTO counter VALUES (1000); SELECT * FROM counter WHERE n = 1000', 3);
-- DDL in each turn
SELECT rows FROM exec_query_in_loop('CREATE TEMP TABLE made (a int); DROP TABLE made', 3);

-- PL/pgSQL: the same rows
SELECT executions, rows, ns_per_execution > 0 AS took_time
FROM exec_query_in_plpgsql_loop('SELECT name FROM t WHERE id = $1', 10, ARRAY[1, 2, 5000]);
SELECT executions, rows FROM exec_query_in_plpgsql_loop(E' \n select * FROM t', 3);
SELECT rows FROM exec_query_in_plpgsql_loop('WITH w AS (SELECT 1) SELECT * FROM w', 3);
SELECT rows FROM exec_query_in_plpgsql_loop('VALUES (1), (2)', 3);
SELECT rows FROM exec_query_in_plpgsql_loop('UPDATE counter SET n = n + 1 WHERE n >= 1000', 3);
SELECT rows FROM exec_query_in_plpgsql_loop('SELECT FROM t WHERE name = $1', 4, '[3:4]={name 1,"x'' $body$"}'::text[]);
CREATE TABLE names (n int, rows int, keys int, i int);
INSERT INTO names VALUES (1, 2, 3, 4);
SELECT rows FROM exec_query_in_plpgsql_loop('SELECT n, rows, keys, i FROM names WHERE n = $1', 2, ARRAY[1]);

-- errors
SELECT failure($q$SELECT exec_query_in_loop(NULL, 1)$q$);
SELECT failure($q$SELECT exec_query_in_loop('SELECT 1', NULL)$q$);
SELECT failure($q$SELECT exec_query_in_loop('SELECT 1', 0)$q$);
SELECT failure($q$SELECT exec_query_in_loop('SELECT 1', -5, 1)$q$);
SELECT failure($q$SELECT exec_query_in_loop('', 1)$q$);
SELECT failure($q$SELECT exec_query_in_loop('  -- nothing', 1)$q$);
SELECT failure($q$SELECT exec_query_in_loop('SELEC 1', 1)$q$);
SELECT failure($q$SELECT exec_query_in_loop('SELECT * FROM missing', 1)$q$);
SELECT failure($q$SELECT exec_query_in_loop('SELECT $1', 1)$q$);
SELECT failure($q$SELECT exec_query_in_loop('SELECT $2::int', 1, 5)$q$);
SELECT failure($q$SELECT exec_query_in_loop('SELECT 1', 1, VARIADIC NULL::int[])$q$);
SELECT failure($q$SELECT exec_query_in_loop('SELECT 1 / (3 - $1)', 5, 3)$q$);
SELECT failure($q$SELECT exec_query_in_loop('COMMIT', 1)$q$);
SELECT failure($q$SELECT exec_query_in_loop('COPY t TO STDOUT', 1)$q$);
SELECT failure($q$SELECT exec_query_in_key_loop('SELECT $1', 1, NULL::int[])$q$);
SELECT failure($q$SELECT exec_query_in_key_loop('SELECT $1', 1, '{}'::int[])$q$);
SELECT failure($q$SELECT exec_query_in_key_loop('SELECT $1', 1, ARRAY[1, NULL])$q$);
SELECT failure($q$SELECT exec_query_in_key_loop('SELECT $1 / 0', 1, ARRAY[1])$q$);
SELECT failure($q$SELECT exec_query_in_plpgsql_loop(NULL, 1)$q$);
SELECT failure($q$SELECT exec_query_in_plpgsql_loop('SELECT 1', 0)$q$);
SELECT failure($q$SELECT exec_query_in_plpgsql_loop('SELECT 1', NULL)$q$);
SELECT failure($q$SELECT exec_query_in_plpgsql_loop('SELECT $1', 1, '{}'::int[])$q$);
SELECT failure($q$SELECT exec_query_in_plpgsql_loop('SELECT 1 / 0', 1)$q$);

-- cancelled in the loop, in reading and in writing
SET statement_timeout = '100ms';
SELECT failure($q$SELECT exec_query_in_loop('SELECT 1', 1000000000000)$q$);
SELECT failure($q$SELECT exec_query_in_loop('UPDATE counter SET n = 0 WHERE n < 0', 1000000000000)$q$);
SELECT failure($q$SELECT exec_query_in_key_loop('SELECT $1', 1000000000000, ARRAY[1])$q$);
SELECT failure($q$SELECT exec_query_in_plpgsql_loop('SELECT 1', 2000000000)$q$);
RESET statement_timeout;

-- an error caught leaves the session as it was
DO $$
BEGIN
  PERFORM penumbra_bench.exec_query_in_loop('SELECT 1 / 0', 1);
EXCEPTION WHEN division_by_zero THEN RAISE NOTICE 'caught';
END $$;
SELECT rows FROM exec_query_in_loop('SELECT 1', 1);

-- for superusers, whatever is granted
CREATE ROLE somebody;
GRANT USAGE ON SCHEMA penumbra_bench TO somebody;
SET ROLE somebody;
SELECT failure($q$SELECT exec_query_in_loop('SELECT 1', 1)$q$);
RESET ROLE;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA penumbra_bench TO somebody;
SET ROLE somebody;
SELECT failure($q$SELECT exec_query_in_loop('SELECT 1', 1)$q$);
SELECT failure($q$SELECT exec_query_in_loop('SELECT $1', 1, 1)$q$);
SELECT failure($q$SELECT exec_query_in_key_loop('SELECT $1', 1, ARRAY[1])$q$);
SELECT failure($q$SELECT exec_query_in_plpgsql_loop('SELECT 1', 1)$q$);
SELECT failure($q$SELECT index_lookup_loop('public.t_pkey', 1, ARRAY[1])$q$);
SELECT failure($q$SELECT index_random_lookup_loop('public.t_pkey', 1)$q$);
RESET ROLE;
DROP OWNED BY somebody;
DROP ROLE somebody;
