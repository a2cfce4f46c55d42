-- groups of nearly one row
SELECT count(*), sum(weight), sum(n)
FROM (
    SELECT site, sensor, batch, line, shift, part, sum(weight) AS weight, count(*) AS n
    FROM measures
    GROUP BY site, sensor, batch, line, shift, part
) AS s;
