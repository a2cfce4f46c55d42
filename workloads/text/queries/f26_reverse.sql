-- groups by reverse
SELECT reverse(substr(url, 1, 12)) AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
