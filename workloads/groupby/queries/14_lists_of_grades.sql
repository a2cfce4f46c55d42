-- the grades of each part in the order of time
SELECT count(*), sum(length(grades)), min(grades)
FROM (SELECT part, string_agg(grade::varchar, ',' ORDER BY taken_at, id) AS grades FROM measures GROUP BY part) AS s;
