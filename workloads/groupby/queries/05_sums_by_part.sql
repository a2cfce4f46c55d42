-- sums of parts
SELECT count(*), sum(grades), sum(faults), sum(weight)
FROM (
    SELECT part, sum(grade) AS grades, sum(faults) AS faults, sum(weight) AS weight FROM measures GROUP BY part
) AS s;
