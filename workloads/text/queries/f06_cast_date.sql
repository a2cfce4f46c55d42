-- groups by cast_date
SELECT day_text::date AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
