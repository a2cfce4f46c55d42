-- a later page of a listing
SELECT event_id, received_at, customer_name
FROM events WHERE country = 'FR' ORDER BY received_at, event_id LIMIT 20 OFFSET 1000;
