-- groups by split_last
SELECT split_part(line, ' ', 4) AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
