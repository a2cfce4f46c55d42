-- tens of thousands of groups
SELECT store_id, event_date, count(*) AS n, sum(total_amount) AS amount
FROM events GROUP BY store_id, event_date ORDER BY amount DESC, store_id, event_date LIMIT 20;
