-- groups by minute
SELECT to_char(visited_at, 'YYYY-MM-DD HH24:MI') AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
