-- sales of the two greatest quantities of each shop
SELECT count(*), sum(id), sum(n)
FROM (
    SELECT id, dense_rank() OVER (PARTITION BY shop ORDER BY quantity DESC) AS n
    FROM sales
) AS s
WHERE n <= 2;
