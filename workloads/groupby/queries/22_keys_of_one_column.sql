-- four keys of one column
SELECT part, part - 1 AS a, part - 2 AS b, part - 3 AS c, count(*) AS n
FROM measures
GROUP BY part, part - 1, part - 2, part - 3
ORDER BY n DESC, part
LIMIT 10;
