-- grades of sensors of sites
SELECT count(*), sum(grades), max(grades)
FROM (SELECT site, sensor, sum(grade) AS grades FROM measures GROUP BY site, sensor) AS s;
