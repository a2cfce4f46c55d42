-- sum and count of 5,001 sales
SELECT sum(total), sum(n)
FROM (
    SELECT sum(discount) OVER w AS total, count(discount) OVER w AS n
    FROM sales
    WINDOW w AS (ORDER BY sold_at, id ROWS BETWEEN 2500 PRECEDING AND 2500 FOLLOWING)
) AS s;
