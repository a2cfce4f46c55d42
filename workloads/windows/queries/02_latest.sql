-- the latest sale of each customer
SELECT count(*), sum(id), sum(amount)
FROM (
    SELECT id, amount, row_number() OVER (PARTITION BY customer ORDER BY sold_at DESC, id DESC) AS n
    FROM sales
) AS s
WHERE n = 1;
