-- few groups, a string key
SELECT event_type, count(*), sum(total_amount), avg(response_ms)
FROM events GROUP BY event_type ORDER BY event_type;
