-- non-null values of sparse columns
SELECT count(refund_amount), count(error_code), count(coupon_code), count(note), count(search_phrase)
FROM events;
