-- groups by bucket
SELECT width_bucket(amount, 0, 10000, 20) AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
