-- change since the sale before in the shop
SELECT sum(quantity - before), count(before)
FROM (
    SELECT quantity, lag(quantity) OVER (PARTITION BY shop ORDER BY sold_at, id) AS before
    FROM sales
) AS s;
