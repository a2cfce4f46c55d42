-- groups by month
SELECT to_char(visited_at, 'YYYY-MM') AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
