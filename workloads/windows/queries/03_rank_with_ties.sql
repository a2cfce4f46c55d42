-- the smallest sales of each region, ties included
SELECT count(*), sum(id), sum(n)
FROM (
    SELECT id, rank() OVER (PARTITION BY region ORDER BY quantity) AS n
    FROM sales
) AS s
WHERE n <= 3;
