-- groups by concat
SELECT concat(size % 10, '/', substr(name, 1, 1)) AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
