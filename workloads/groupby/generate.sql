-- The rows of `measures`, written in DuckDB's SQL; $size is how many. `batch` and `part` have a hundredth as many values,
-- `serial` half as many. `weight` is a multiple of 1/64, so that sums of it do not depend on their order.
CREATE VIEW measures AS
SELECT
    i AS id,
    'site ' || lpad(even(i, 1, 100)::varchar, 3, '0') AS site,
    'sensor ' || lpad(even(i, 2, 100)::varchar, 3, '0') AS sensor,
    'batch ' || lpad(even(i, 3, greatest($size // 100, 1))::varchar, 10, '0') AS batch,
    even(i, 4, 100) AS line,
    even(i, 5, 100) AS shift,
    even(i, 6, greatest($size // 100, 1)) AS part,
    even(i, 7, greatest($size // 2, 1)) * 7919 AS serial,
    1 + even(i, 8, 5) AS grade,
    CASE WHEN even(i, 9, 20) = 0 THEN NULL ELSE even(i, 10, 15) END AS faults,
    even(i, 11, 6400) / 64 AS weight,
    (1 + even(i, 12, 1000000)) / 100 AS cost,
    timestamp '2025-01-01' + to_seconds(i * 31536000 // $size) AS taken_at
FROM range(1, $size + 1) AS numbers (i);
