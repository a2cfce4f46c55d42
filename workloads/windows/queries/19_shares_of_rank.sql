-- percent_rank and cume_dist
SELECT round(sum(a)::numeric), round(sum(b)::numeric)
FROM (
    SELECT percent_rank() OVER w AS a, cume_dist() OVER w AS b
    FROM sales
    WINDOW w AS (PARTITION BY shop ORDER BY quantity)
) AS s;
