-- groups by amount
SELECT to_char(amount, 'FM999990.00') AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
