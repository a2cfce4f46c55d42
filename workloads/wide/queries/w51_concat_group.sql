-- city and region together
SELECT city || ', ' || coalesce(region, '?') AS place, count(*) AS n
FROM events GROUP BY 1 ORDER BY n DESC, place LIMIT 15;
