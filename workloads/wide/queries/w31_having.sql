-- products with many slow events
SELECT product_id, count(*) AS n, avg(response_ms) AS slow
FROM events GROUP BY product_id HAVING count(*) > 100 AND avg(response_ms) > 6000 ORDER BY slow DESC, product_id LIMIT 10;
