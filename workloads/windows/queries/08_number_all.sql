-- numbers of all rows
SELECT max(n), sum(n * quantity)
FROM (
    SELECT quantity, row_number() OVER (ORDER BY sold_at, id) AS n
    FROM sales
) AS s;
