-- three windows
SELECT sum(a), sum(b), sum(c)
FROM (
    SELECT row_number() OVER (PARTITION BY shop ORDER BY amount, id) AS a, sum(quantity) OVER (PARTITION BY region) AS b, lag(quantity) OVER (PARTITION BY product ORDER BY id) AS c
    FROM sales
) AS s;
