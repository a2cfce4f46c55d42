-- averages of sums by user
SELECT count(*), avg(spent), max(spent) FROM (SELECT user_id, sum(total_amount) AS spent
FROM events WHERE event_type = 'purchase' GROUP BY user_id) AS buyers;
