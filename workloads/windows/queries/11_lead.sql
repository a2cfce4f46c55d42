-- amount of the next sale in the region
SELECT sum(after), count(after)
FROM (
    SELECT lead(amount, 1) OVER (PARTITION BY region ORDER BY sold_at, id) AS after
    FROM sales
) AS s;
