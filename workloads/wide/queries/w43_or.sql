-- any of several conditions
SELECT count(*), sum(refund_amount)
FROM events WHERE error_code BETWEEN 100 AND 200 OR http_status >= 500 OR (is_bot AND retries > 2);
