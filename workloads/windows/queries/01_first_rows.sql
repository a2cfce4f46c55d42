-- the first three sales of each shop
SELECT count(*), sum(id), sum(quantity)
FROM (
    SELECT id, quantity, row_number() OVER (PARTITION BY shop ORDER BY sold_at, id) AS n
    FROM sales
) AS s
WHERE n <= 3;
