-- groups by to_date
SELECT to_date(day_text, 'YYYY-MM-DD') AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
