-- bits of grades, and conditions of faults
SELECT site, bit_or(1 << grade) AS grades, bool_or(faults > 13) AS has_many, count(*) FILTER (WHERE faults > 10) AS n
FROM measures
GROUP BY site
ORDER BY site;
