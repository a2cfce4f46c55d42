-- serials that come more than four times
SELECT count(*), sum(n), sum(cost)
FROM (SELECT serial, count(*) AS n, sum(cost) AS cost FROM measures GROUP BY serial HAVING count(*) > 4) AS s;
