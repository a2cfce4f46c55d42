-- events by hour of the day and weekday
SELECT extract(hour FROM event_time) AS hour, extract(dow FROM event_time) AS weekday, count(*)
FROM events GROUP BY 1, 2 ORDER BY 1, 2;
