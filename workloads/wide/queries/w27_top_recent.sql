-- the latest failures
SELECT event_id, event_time, status, url
FROM events WHERE status = 'failed' ORDER BY event_time DESC, event_id LIMIT 20;
