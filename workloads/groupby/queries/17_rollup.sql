-- weights of sites, their lines and shifts
SELECT count(*), sum(weight), sum(n)
FROM (
    SELECT site, line, shift, sum(weight) AS weight, count(*) AS n FROM measures GROUP BY ROLLUP (site, line, shift)
) AS s;
