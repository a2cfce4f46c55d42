-- long string keys
SELECT product_name, count(*) AS n, sum(quantity)
FROM events GROUP BY product_name ORDER BY n DESC, product_name LIMIT 25;
