-- net amounts
SELECT sum(unit_price * quantity * (1 - discount_rate) * (1 + tax_rate)), sum(total_amount * exchange_rate), avg(margin - coalesce(commission, 0))
FROM events;
