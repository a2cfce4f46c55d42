-- each sale beside the total
SELECT count(*)
FROM (
    SELECT quantity, sum(quantity) OVER () AS total, count(*) OVER () AS n
    FROM sales
) AS s
WHERE quantity * n > total;
