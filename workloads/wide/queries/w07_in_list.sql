-- countries out of a list
SELECT country, count(*)
FROM events WHERE country IN ('SE', 'NO', 'DK', 'FI', 'EE', 'LV', 'LT') GROUP BY country ORDER BY country;
