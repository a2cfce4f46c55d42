-- groups by replace
SELECT replace(substr(url, 1, 20), 'https', 'http') AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
