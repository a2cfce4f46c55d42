-- posts without a score
SELECT count(*), sum(id) FROM posts WHERE 42 <> ALL (scores);
