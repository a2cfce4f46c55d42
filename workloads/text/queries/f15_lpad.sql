-- groups by lpad
SELECT lpad((size % 1000)::text, 6, '0') AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
