-- groups by concat_ws
SELECT concat_ws('-', size % 10, substr(day_text, 1, 4)) AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
