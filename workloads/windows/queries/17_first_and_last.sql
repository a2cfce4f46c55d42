-- first and last amount of the shop so far
SELECT sum(latest - earliest)
FROM (
    SELECT first_value(amount) OVER w AS earliest, last_value(amount) OVER w AS latest
    FROM sales
    WINDOW w AS (PARTITION BY shop ORDER BY sold_at, id ROWS UNBOUNDED PRECEDING)
) AS s;
