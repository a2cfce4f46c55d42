-- all columns of a few rare rows
SELECT *
FROM events WHERE is_gift AND http_status = 503 ORDER BY event_id LIMIT 10;
