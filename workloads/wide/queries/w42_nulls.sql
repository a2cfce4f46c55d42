-- missing values
SELECT count(*)
FROM events WHERE payment_method IS NULL AND shipping_method IS NOT NULL AND (region IS NULL OR coupon_code IS NULL);
