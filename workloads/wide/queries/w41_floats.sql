-- averages of floats in a box
SELECT count(*), min(latitude), max(longitude), max(temperature), min(engagement)
FROM events WHERE latitude BETWEEN 40 AND 55 AND longitude BETWEEN 5 AND 30;
