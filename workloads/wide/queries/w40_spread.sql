-- deviation of measures
SELECT device_type, stddev_samp(response_ms), var_samp(total_amount), stddev_pop(page_views)
FROM events GROUP BY device_type ORDER BY device_type;
