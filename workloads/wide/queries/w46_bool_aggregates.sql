-- anything and everything
SELECT ab_group, bool_or(is_gift), bool_and(is_mobile), count(DISTINCT status)
FROM events GROUP BY ab_group ORDER BY ab_group;
