-- millions of groups: the busiest users
SELECT user_id, count(*) AS n, sum(total_amount) AS spent
FROM events GROUP BY user_id ORDER BY n DESC, user_id LIMIT 20;
