-- tags of many posts with low scores
SELECT tag, count(*)
FROM (SELECT id, unnest(tags) AS tag, scores[1] AS score FROM posts) AS p
WHERE score < 10
GROUP BY 1
HAVING count(*) > 5
ORDER BY 2 DESC, 1
LIMIT 20;
