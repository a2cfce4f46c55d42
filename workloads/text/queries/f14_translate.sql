-- groups by translate
SELECT translate(substr(name, 1, 4), 'aeiou', 'AEIOU') AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
