-- three groupings at once
SELECT count(*), sum(cost), max(cost)
FROM (
    SELECT site, sensor, line, sum(cost) AS cost
    FROM measures
    GROUP BY GROUPING SETS ((site, sensor), (sensor, line), (line), ())
) AS s;
