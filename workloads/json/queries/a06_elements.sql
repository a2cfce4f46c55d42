-- sums of two elements
SELECT shop, sum(scores[1]), sum(scores[2])
FROM posts
WHERE scores[1] > 50
GROUP BY 1
ORDER BY 2 DESC, 1
LIMIT 10;
