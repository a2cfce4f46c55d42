-- grades of sites
SELECT site, sum(grade) AS grades FROM measures GROUP BY site ORDER BY site;
