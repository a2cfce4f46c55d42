-- scores by shop
SELECT shop, count(*), sum(score), max(score)
FROM posts, unnest(scores) AS score
GROUP BY 1
ORDER BY 3 DESC, 1
LIMIT 10;
