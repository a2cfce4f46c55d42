-- groups by cast_number
SELECT number_text::numeric(12, 2) AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
