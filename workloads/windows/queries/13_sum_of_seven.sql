-- sums of seven sales
SELECT sum(total), max(total)
FROM (
    SELECT sum(quantity) OVER (PARTITION BY shop ORDER BY sold_at, id ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING) AS total
    FROM sales
) AS s;
