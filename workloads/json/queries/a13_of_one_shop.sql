-- the tags of one shop, with the posts that have none
SELECT tag, count(*), min(id)
FROM posts LEFT JOIN LATERAL unnest(tags) AS tag ON true
WHERE shop = 77
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 10;
