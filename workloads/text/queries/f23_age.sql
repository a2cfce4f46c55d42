-- groups by age
SELECT extract(year FROM age(timestamp '2026-01-01', day_text::timestamp)) AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
