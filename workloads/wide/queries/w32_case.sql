-- amounts by class
SELECT CASE WHEN total_amount < 1 THEN 'tiny' WHEN total_amount < 100 THEN 'small' WHEN total_amount < 10000 THEN 'medium' ELSE 'large' END AS class, count(*), sum(total_amount), sum(CASE WHEN is_refunded THEN refund_amount ELSE 0 END)
FROM events GROUP BY 1 ORDER BY 1;
