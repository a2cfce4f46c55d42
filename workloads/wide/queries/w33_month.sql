-- turnover by month
SELECT date_trunc('month', event_time) AS month, count(*), sum(total_amount)
FROM events GROUP BY 1 ORDER BY 1;
