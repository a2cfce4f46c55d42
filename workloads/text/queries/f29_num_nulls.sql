-- groups by num_nulls
SELECT num_nulls(referer, url) AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
