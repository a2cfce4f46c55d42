-- percentiles of all rows
SELECT sum(bucket * quantity)
FROM (
    SELECT quantity, ntile(100) OVER (ORDER BY quantity, id) AS bucket
    FROM sales
) AS s;
