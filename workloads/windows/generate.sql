-- The rows of `sales`, written in DuckDB's SQL; $size is how many. Each value is a function of the row's number only.
CREATE VIEW sales AS
SELECT
    i AS id,
    even(i, 1, 10) AS region,
    even(i, 2, 10000) AS shop,
    even(i, 3, 1000000) AS customer,
    timestamp '2025-01-01' + to_seconds(i * 31536000 // $size) AS sold_at,
    1 + even(i, 4, 1000) AS quantity,
    CASE WHEN even(i, 5, 10) = 0 THEN NULL ELSE even(i, 6, 50) END AS discount,
    (1 + even(i, 7, 1000000)) / 100 AS amount,
    uniform(i, 8) AS weight,
    'product ' || even(i, 9, 3000) AS product
FROM range(1, $size + 1) AS numbers (i);
