-- posts with one of three tags
SELECT count(*), count(DISTINCT shop) FROM posts WHERE tags && ARRAY['tag 17', 'tag 170', 'tag 1700'];
