-- groups by position
SELECT position('/' IN substr(url, 9)) AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
