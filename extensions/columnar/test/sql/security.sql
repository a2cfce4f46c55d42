-- Row-level security: nothing of hidden rows shows, neither by an error nor by what EXPLAIN counts.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE ROLE penumbra_reader;
CREATE TABLE secrets AS
SELECT i AS id, i % 2 AS owner, (i % 1000)::numeric AS amount, 100 - i % 100 AS divisor, repeat('x', 100) AS filler
FROM generate_series(1, 150000) i;
VACUUM ANALYZE secrets;
SELECT penumbra.load('secrets') > 1 AS has_chunks;
GRANT SELECT ON secrets TO penumbra_reader;
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secrets USING (owner % 2 = 5);
SET ROLE penumbra_reader;
SET penumbra.mode = 'prefer';

CREATE FUNCTION pg_temp.chunks(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        IF line ~ 'Vector Filter: \(|Chunks' THEN
            RETURN NEXT regexp_replace(line, '^ +', '');
        END IF;
    END LOOP;
END $$;

-- Comparisons of numeric are not leakproof: zone maps tell nothing of amounts that no row and that some rows have.
SELECT pg_temp.chunks('SELECT id FROM secrets WHERE amount > 5000');
SELECT pg_temp.chunks('SELECT id FROM secrets WHERE amount < 5000');
-- Those of integers are.
SELECT pg_temp.chunks('SELECT id FROM secrets WHERE id > 1000000');
-- No hidden row divides by zero; without the policy it would.
SELECT count(*) FROM secrets WHERE 1 / (divisor - 100) > 0;
RESET ROLE;
SELECT count(*) FROM secrets WHERE 1 / (divisor - 100) > 0;
DROP FUNCTION pg_temp.chunks(text);
DROP TABLE secrets;
DROP ROLE penumbra_reader;
