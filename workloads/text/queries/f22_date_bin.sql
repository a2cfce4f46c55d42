-- groups by date_bin
SELECT date_bin('15 minutes', visited_at, timestamp '2025-01-01') AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
