-- groups by sha256
SELECT encode(sha256(name::bytea), 'hex') AS value, count(*), sum(size)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 20;
