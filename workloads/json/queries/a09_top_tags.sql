-- the ten commonest tags
SELECT tag, count(*)
FROM posts, unnest(tags) AS tag
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 10;
