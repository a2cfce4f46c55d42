-- means of lines
SELECT line, avg(grade) AS grade, avg(faults) AS faults, avg(weight) AS weight FROM measures GROUP BY line ORDER BY line;
