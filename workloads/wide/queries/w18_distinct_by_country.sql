-- users by country
SELECT country, count(DISTINCT user_id) AS users
FROM events GROUP BY country ORDER BY users DESC, country;
