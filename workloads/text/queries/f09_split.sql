-- groups by split
SELECT split_part(url, '/', 3) AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
