-- addresses of one kind
SELECT count(*)
FROM events WHERE url LIKE 'https://shop.example.com/cart/%';
