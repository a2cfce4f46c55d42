-- several counts in one pass
SELECT count(*) FILTER (WHERE is_mobile), count(*) FILTER (WHERE is_bot), count(*) FILTER (WHERE NOT has_consent), sum(total_amount) FILTER (WHERE is_paid), count(*) FILTER (WHERE coupon_code IS NOT NULL)
FROM events;
