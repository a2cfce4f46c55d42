-- groups by rpad
SELECT rpad(substr(name, 1, 5), 8, '.') AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
