-- serials of sites
SELECT site, count(DISTINCT serial) AS serials FROM measures GROUP BY site ORDER BY serials DESC, site LIMIT 10;
