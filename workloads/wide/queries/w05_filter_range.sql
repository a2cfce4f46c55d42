-- a month of events
SELECT count(*), sum(total_amount), avg(quantity)
FROM events WHERE event_time >= '2025-03-01' AND event_time < '2025-04-01';
