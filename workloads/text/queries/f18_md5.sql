-- groups by md5
SELECT substr(md5(name), 1, 2) AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
