-- scores by tag
SELECT tag, count(*), sum(score)
FROM posts, unnest(tags) AS tag, unnest(scores) AS score
WHERE shop < 100
GROUP BY 1
ORDER BY 3 DESC, 1
LIMIT 10;
