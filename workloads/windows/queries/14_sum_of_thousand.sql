-- amounts of the last thousand sales of the region
SELECT sum(total), max(total)
FROM (
    SELECT sum(amount) OVER (PARTITION BY region ORDER BY sold_at, id ROWS BETWEEN 999 PRECEDING AND CURRENT ROW) AS total
    FROM sales
) AS s;
