-- groups by make_date
SELECT make_date(2020 + size % 5, 1 + size % 12, 1) AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
