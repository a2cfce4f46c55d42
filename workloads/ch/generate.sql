-- The rows with which TPC-C begins (its clause 4.3.3), for $size warehouses, and CH-benCHmark's supplier, nation and
-- region. Below one warehouse it is one with that share of the items and of each district's customers and orders.
CREATE MACRO warehouses() AS greatest(1, $size)::bigint;
CREATE MACRO items() AS round(100000 * least(1, $size))::bigint;
CREATE MACRO customers() AS round(3000 * least(1, $size))::bigint;
CREATE MACRO loaded() AS timestamp '2010-06-01';
CREATE MACRO symbol(n) AS substring('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', n + 1, 1);
CREATE MACRO letters(i, k, count) AS
    array_to_string([symbol(even(i * 64 + x, k, 62)::integer) for x in range(count)], '');
-- Text that no query looks into, of low..high characters.
CREATE MACRO filler(i, k, low, high) AS
    left(md5(k || ' ' || i) || md5(i || ' ' || k), (low + even(i, k, high - low + 1))::integer);
CREATE MACRO digits(i, k, count) AS lpad(even(i, k, 10 ** count)::varchar, count, '0');
CREATE MACRO zip(i, k) AS digits(i, k, 4) || '11111';
CREATE MACRO tax(i, k) AS (even(i, k, 2001) / 10000)::decimal(4,4);
CREATE MACRO syllable(n) AS
    ['BAR', 'OUGHT', 'ABLE', 'PRI', 'PRES', 'ESE', 'ANTI', 'CALLY', 'ATION', 'EING'][n % 10 + 1];
CREATE MACRO last_name(n) AS syllable(n // 100) || syllable(n // 10) || syllable(n);
CREATE MACRO nurand(i, k, a, n) AS ((even(i, k, a + 1) | even(i, k + 1, n)) + 123) % n;

CREATE VIEW warehouse AS
SELECT i AS w_id, filler(i, 1, 6, 10) AS w_name, filler(i, 2, 10, 20) AS w_street_1, filler(i, 3, 10, 20) AS w_street_2,
    filler(i, 4, 10, 20) AS w_city, letters(i, 5, 2) AS w_state, zip(i, 6) AS w_zip, tax(i, 7) AS w_tax,
    300000.00 AS w_ytd
FROM range(1, warehouses() + 1) AS numbers(i);

CREATE VIEW places AS -- every district, with a number of its own
SELECT w, d, w * 10 + d AS p
FROM range(1, warehouses() + 1) AS all_warehouses(w), range(1, 11) AS all_districts(d);

CREATE VIEW district AS
SELECT d AS d_id, w AS d_w_id, filler(p, 11, 6, 10) AS d_name, filler(p, 12, 10, 20) AS d_street_1,
    filler(p, 13, 10, 20) AS d_street_2, filler(p, 14, 10, 20) AS d_city, letters(p, 15, 2) AS d_state,
    zip(p, 16) AS d_zip, tax(p, 17) AS d_tax, 30000.00 AS d_ytd, customers() + 1 AS d_next_o_id
FROM places;

CREATE VIEW item AS
SELECT i AS i_id, even(i, 21, 10000) + 1 AS i_im_id, filler(i, 22, 14, 24) AS i_name,
    ((even(i, 23, 9901) + 100) / 100)::decimal(5,2) AS i_price,
    -- A tenth of them are originals.
    CASE WHEN even(i, 24, 10) = 0 THEN letters(i, 25, 10) || 'ORIGINAL' || letters(i, 26, 12)
        ELSE letters(i, 25, 26 + even(i, 27, 25)) END AS i_data
FROM range(1, items() + 1) AS numbers(i);

CREATE MACRO dist(s, d) AS left(md5(s || '/' || d), 24);
CREATE VIEW stock AS
SELECT i AS s_i_id, w AS s_w_id, even(s, 31, 91) + 10 AS s_quantity,
    dist(s, 1) AS s_dist_01, dist(s, 2) AS s_dist_02, dist(s, 3) AS s_dist_03, dist(s, 4) AS s_dist_04,
    dist(s, 5) AS s_dist_05, dist(s, 6) AS s_dist_06, dist(s, 7) AS s_dist_07, dist(s, 8) AS s_dist_08,
    dist(s, 9) AS s_dist_09, dist(s, 10) AS s_dist_10,
    0 AS s_ytd, 0 AS s_order_cnt, 0 AS s_remote_cnt,
    filler(s, 32, 26, 40) || CASE WHEN even(s, 33, 10) = 0 THEN 'ORIGINAL' ELSE '' END AS s_data
FROM (SELECT w, i, w * 1000000 + i AS s
    FROM range(1, warehouses() + 1) AS all_warehouses(w), range(1, items() + 1) AS numbers(i));

CREATE VIEW buyers AS
SELECT *, p * 10000 + i AS c FROM places, range(1, customers() + 1) AS numbers(i);

CREATE VIEW customer AS
SELECT i AS c_id, d AS c_d_id, w AS c_w_id, filler(c, 41, 8, 16) AS c_first, 'OE' AS c_middle,
    last_name(CASE WHEN i <= 1000 THEN i - 1 ELSE nurand(c, 42, 255, 1000) END) AS c_last,
    filler(c, 44, 10, 20) AS c_street_1, filler(c, 45, 10, 20) AS c_street_2, filler(c, 46, 10, 20) AS c_city,
    letters(c, 47, 2) AS c_state, zip(c, 48) AS c_zip, digits(c, 49, 16) AS c_phone, loaded() AS c_since,
    CASE WHEN even(c, 50, 10) = 0 THEN 'BC' ELSE 'GC' END AS c_credit, 50000.00 AS c_credit_lim,
    (even(c, 51, 5001) / 10000)::decimal(4,4) AS c_discount, -10.00 AS c_balance, 10.00 AS c_ytd_payment,
    1 AS c_payment_cnt, 0 AS c_delivery_cnt, repeat(md5('data ' || c), 10 + even(c, 52, 6)::integer) AS c_data
FROM buyers;

CREATE VIEW history AS
SELECT i AS h_c_id, d AS h_c_d_id, w AS h_c_w_id, d AS h_d_id, w AS h_w_id, loaded() AS h_date, 10.00 AS h_amount,
    filler(c, 61, 12, 24) AS h_data
FROM buyers;

-- One order of each customer, the last 30 % of them not delivered yet.
CREATE MACRO is_delivered(i) AS i <= customers() * 7 // 10;
CREATE VIEW orders AS
SELECT i AS o_id, d AS o_d_id, w AS o_w_id, (i * 1789 + p * 31) % customers() + 1 AS o_c_id,
    loaded() + to_seconds(i) AS o_entry_d,
    CASE WHEN is_delivered(i) THEN even(c, 71, 10) + 1 END AS o_carrier_id, even(c, 72, 11) + 5 AS o_ol_cnt,
    1 AS o_all_local
FROM buyers;

CREATE VIEW new_order AS
SELECT i AS no_o_id, d AS no_d_id, w AS no_w_id FROM buyers WHERE NOT is_delivered(i);

CREATE VIEW order_line AS
SELECT i AS ol_o_id, d AS ol_d_id, w AS ol_w_id, n AS ol_number, even(l, 81, items()) + 1 AS ol_i_id,
    w AS ol_supply_w_id, CASE WHEN is_delivered(i) THEN loaded() + to_seconds(i) END AS ol_delivery_d,
    5 AS ol_quantity,
    CASE WHEN is_delivered(i) THEN 0 ELSE (even(l, 82, 999999) + 1) / 100 END::decimal(6,2) AS ol_amount,
    left(md5('line ' || l), 24) AS ol_dist_info
FROM (SELECT *, c * 16 + n AS l
    FROM (SELECT *, unnest(range(1, even(c, 72, 11) + 6)) AS n FROM buyers));

CREATE VIEW supplier AS
SELECT i AS su_suppkey, 'Supplier#' || lpad(i::varchar, 9, '0') AS su_name, filler(i, 91, 10, 40) AS su_address,
    ascii(symbol(even(i, 92, 62)::integer)) AS su_nationkey, digits(i, 93, 15) AS su_phone,
    ((even(i, 94, 1099999) - 99999) / 100)::decimal(12,2) AS su_acctbal,
    filler(i, 95, 25, 60) || CASE even(i, 96, 500) WHEN 0 THEN ' bad' ELSE '' END AS su_comment
FROM range(10000) AS numbers(i);

-- The key is the code of a letter or digit, with which a customer's state begins.
CREATE VIEW nation AS
SELECT ascii(symbol(i::integer)) AS n_nationkey, ([
    'Austria', 'Belgium', 'Bulgaria', 'Croatia', 'Denmark', 'Estonia', 'Finland', 'France', 'Germany', 'Greece',
    'Hungary', 'Ireland', 'Italy', 'Latvia', 'Netherlands', 'Norway', 'Poland', 'Portugal', 'Romania', 'Spain',
    'Algeria', 'Angola', 'Cameroon', 'Egypt', 'Ethiopia', 'Ghana', 'Kenya', 'Mali', 'Morocco', 'Namibia',
    'Argentina', 'Bolivia', 'Brazil', 'Canada', 'Chile', 'Colombia', 'Cuba', 'Ecuador', 'Mexico', 'Peru',
    'Bangladesh', 'Bhutan', 'Cambodia', 'China', 'India', 'Indonesia', 'Iran', 'Iraq', 'Israel', 'Japan',
    'Jordan', 'Laos', 'Malaysia', 'Mongolia', 'Nepal', 'Pakistan', 'Thailand', 'Vietnam',
    'Australia', 'Fiji', 'New Zealand', 'Samoa'])[i + 1] AS n_name,
    CASE WHEN i < 20 THEN 1 WHEN i < 30 THEN 2 WHEN i < 40 THEN 3 WHEN i < 58 THEN 4 ELSE 5 END AS n_regionkey,
    filler(i, 97, 30, 60) AS n_comment
FROM range(62) AS numbers(i);

CREATE VIEW region AS
SELECT i AS r_regionkey, (['Europe', 'Africa', 'America', 'Asia', 'Australia'])[i] AS r_name,
    filler(i, 98, 30, 60) AS r_comment
FROM range(1, 6) AS numbers(i);
