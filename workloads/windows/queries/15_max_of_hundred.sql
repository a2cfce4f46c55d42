-- greatest of 101 sales
SELECT sum(most), min(most)
FROM (
    SELECT max(quantity) OVER (PARTITION BY shop ORDER BY sold_at, id ROWS BETWEEN 50 PRECEDING AND 50 FOLLOWING) AS most
    FROM sales
) AS s;
