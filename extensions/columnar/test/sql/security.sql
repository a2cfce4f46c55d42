-- Conditions of users run after those of a policy, which are a filter of their own below them; what EXPLAIN may
-- say of both is barriers' to test.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE ROLE penumbra_reader;
CREATE TABLE secrets AS
SELECT i AS id, i % 2 AS owner, (i % 1000)::numeric AS amount, 100 - i % 100 AS divisor FROM generate_series(1, 20000) i;
VACUUM ANALYZE secrets;
SELECT penumbra.load('secrets') > 0 AS is_loaded;
GRANT SELECT ON secrets TO penumbra_reader;
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secrets USING (owner % 2 = 5);
SET ROLE penumbra_reader;
SET penumbra.mode = 'prefer';
-- Comparisons of numeric are not leakproof, those of integers are, and may come first.
EXPLAIN (COSTS OFF) SELECT id FROM secrets WHERE amount > 5000;
EXPLAIN (COSTS OFF) SELECT id FROM secrets WHERE amount > 5000 AND id > 1000000;
-- No hidden row divides by zero; without the policy it would.
SELECT count(*) FROM secrets WHERE 1 / (divisor - 100) > 0;
SELECT count(*) FROM secrets WHERE 1 / (divisor - 100) > 0 AND id > 0;
RESET ROLE;
SELECT count(*) FROM secrets WHERE 1 / (divisor - 100) > 0;
DROP TABLE secrets;
DROP ROLE penumbra_reader;
