-- groups by weekday
SELECT to_char(visited_at, 'Dy') AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
