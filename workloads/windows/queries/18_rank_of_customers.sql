-- rank of a sale among those of its customer
SELECT sum(n), max(n)
FROM (
    SELECT rank() OVER (PARTITION BY customer ORDER BY quantity DESC) AS n
    FROM sales
) AS s;
