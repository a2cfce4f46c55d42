-- lines without their numbers
SELECT regexp_replace(line, '[0-9]+', '#', 'g') AS form, count(*)
FROM visits
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 10;
