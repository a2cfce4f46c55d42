-- running totals of shops
SELECT sum(total), max(total)
FROM (
    SELECT sum(quantity) OVER (PARTITION BY shop ORDER BY sold_at, id) AS total
    FROM sales
) AS s;
