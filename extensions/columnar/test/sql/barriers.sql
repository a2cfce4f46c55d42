-- EXPLAIN ANALYZE tells nothing of rows that row-level security or a security barrier hides: whatever the user
-- asks of them, the output is the same.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;
CREATE ROLE regress_reader;
CREATE TABLE secrets (secret int, owner text) WITH (fillfactor = 10);
INSERT INTO secrets SELECT i, CASE WHEN i <= 10 THEN 'regress_reader' ELSE 'nobody' END FROM generate_series(1, 60000) i;
VACUUM ANALYZE secrets;
GRANT SELECT ON secrets TO regress_reader;
SELECT penumbra.load('secrets');
CREATE VIEW visible WITH (security_barrier) AS SELECT secret FROM secrets WHERE quote_ident(owner) = quote_ident(current_user::text);
CREATE VIEW visible_known WITH (security_barrier) AS SELECT secret FROM secrets WHERE owner = current_user::text;
GRANT SELECT ON visible, visible_known TO regress_reader;

CREATE FUNCTION analyzed(query text, secret int, format text DEFAULT 'text') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF, FORMAT %s) ', format)
		|| replace(query, '?', secret::text) LOOP
		RETURN NEXT regexp_replace(replace(line, secret::text, '?'), 'rows=(\d+)\.00', 'rows=\1'); -- of 18
	END LOOP;
END $$;
-- whether two questions about hidden rows give different outputs
CREATE FUNCTION tells(query text) RETURNS boolean LANGUAGE sql AS $$
	SELECT array(SELECT analyzed(query, 20000)) <> array(SELECT analyzed(query, 50000)) OR
		array(SELECT analyzed(query, 20000, 'json')) <> array(SELECT analyzed(query, 50000, 'json'))
$$;
SET penumbra.mode = prefer;

-- the owner sees all
SELECT line FROM analyzed('SELECT count(*) FROM secrets WHERE secret > ?', 50000) line WHERE line !~ 'Memory';
SELECT tells('SELECT count(*) FROM secrets WHERE secret > ?');
-- a policy that the engine evaluates, and one that it leaves to PostgreSQL, after the user's leakproof qual
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secrets USING (owner = current_user::text);
SET ROLE regress_reader;
SELECT analyzed('SELECT count(*) FROM secrets WHERE secret > ?', 50000);
SELECT tells('SELECT count(*) FROM secrets WHERE secret > ?'), tells('SELECT secret FROM secrets WHERE secret > ?');
RESET ROLE;
ALTER POLICY own ON secrets USING (quote_ident(owner) = quote_ident(current_user::text));
SET ROLE regress_reader;
SELECT count(*) FROM secrets WHERE secret > 5;
SELECT analyzed('SELECT secret FROM secrets WHERE secret > ?', 50000);
SELECT tells('SELECT secret FROM secrets WHERE secret > ?'), tells('SELECT count(*) FROM secrets WHERE secret > ?');
RESET ROLE;
ALTER TABLE secrets DISABLE ROW LEVEL SECURITY;
-- views
SET ROLE regress_reader;
SELECT tells('SELECT secret FROM visible WHERE secret > ?'), tells('SELECT count(*) FROM visible WHERE secret > ?'),
	tells('SELECT secret FROM visible_known WHERE secret > ?'), tells('SELECT count(*) FROM visible_known WHERE secret > ?');
-- below Gather
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT line FROM analyzed('SELECT secret FROM visible WHERE secret > ?', 50000) line WHERE line ~ 'Penumbra|Filter|Pages';
RESET ROLE;
DROP FUNCTION analyzed(text, int, text), tells(text);
DROP TABLE secrets CASCADE;
DROP ROLE regress_reader;
