-- all columns of the largest refunds
SELECT *
FROM events WHERE refund_amount IS NOT NULL ORDER BY refund_amount DESC, event_id LIMIT 10;
