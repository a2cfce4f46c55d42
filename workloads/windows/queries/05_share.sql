-- sales above a hundredth of their shop
SELECT count(*), sum(id)
FROM (
    SELECT id, amount, sum(amount) OVER (PARTITION BY shop) AS total
    FROM sales
) AS s
WHERE amount * 100 > total;
