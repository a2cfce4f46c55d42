-- the dearest events
SELECT event_id, total_amount, product_name, city
FROM events ORDER BY total_amount DESC, event_id LIMIT 10;
