-- Random numbers for generate.sql: the k-th of row i, a function of these two only.
CREATE MACRO uniform(i, k) AS (hash(i * 1009 + k) >> 11)::double / 9007199254740992.0;
-- 0..n-1
CREATE MACRO even(i, k, n) AS floor(uniform(i, k) * n)::bigint;
