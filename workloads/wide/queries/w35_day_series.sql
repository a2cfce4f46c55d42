-- a day at a time, distinct sessions
SELECT event_date, count(*), count(DISTINCT session_id)
FROM events WHERE event_date >= '2025-06-01' AND event_date < '2025-07-01' GROUP BY event_date ORDER BY event_date;
