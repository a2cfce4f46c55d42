-- the two greatest weights of each part
SELECT count(*), sum(weight)
FROM (
    SELECT part, weight, row_number() OVER (PARTITION BY part ORDER BY weight DESC) AS n FROM measures
) AS s
WHERE n <= 2;
