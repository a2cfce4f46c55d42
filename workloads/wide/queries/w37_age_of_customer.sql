-- birth years
SELECT extract(year FROM birth_date) AS born, count(*), avg(loyalty_points)
FROM events WHERE birth_date IS NOT NULL GROUP BY 1 ORDER BY 1;
