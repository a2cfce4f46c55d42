-- groups by trim
SELECT btrim(substr(line, 1, 6), '10.') AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
