-- count and greatest quantity of each customer beside each sale
SELECT sum(n), sum(most), sum(id)
FROM (
    SELECT id, count(*) OVER (PARTITION BY customer) AS n, max(quantity) OVER (PARTITION BY customer) AS most
    FROM sales
) AS s;
