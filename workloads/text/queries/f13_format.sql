-- groups by format
SELECT format('%s (%s)', substr(name, 1, 3), size % 7) AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
