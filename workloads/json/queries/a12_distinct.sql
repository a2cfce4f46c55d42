-- how many tags each shop uses
SELECT shop, count(DISTINCT tag)
FROM posts, unnest(tags) AS tag
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 10;
