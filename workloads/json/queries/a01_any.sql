-- posts with a tag
SELECT count(*), sum(id) FROM posts WHERE 'tag 7' = ANY (tags);
