-- The rows of the Star Schema Benchmark by the rules of its revision 3, at scale $size: 30,000 customers, 2,000
-- suppliers, 200,000 parts (from scale 1 on times 1 + log2 of it), 7 years of days, 1,500,000 orders of 1 to 7 lines;
-- prices in cents. Below scale 1, which the rules leave open, customers, suppliers and parts go by the square root, so
-- that each of the 250 cities keeps some. The seed is one with which no query is empty at the test size.
CREATE MACRO scale() AS $size::double;
CREATE MACRO seed() AS 13;
CREATE MACRO customers() AS round(30000 * CASE WHEN scale() < 1 THEN sqrt(scale()) ELSE scale() END)::bigint;
CREATE MACRO suppliers() AS round(2000 * CASE WHEN scale() < 1 THEN sqrt(scale()) ELSE scale() END)::bigint;
CREATE MACRO parts() AS
    round(200000 * CASE WHEN scale() < 1 THEN sqrt(scale()) ELSE floor(1 + log2(scale())) END)::bigint;
CREATE MACRO orders() AS round(1500000 * scale())::bigint;

CREATE MACRO nation(n) AS [
    'ALGERIA', 'ETHIOPIA', 'KENYA', 'MOROCCO', 'MOZAMBIQUE', 'ARGENTINA', 'BRAZIL', 'CANADA', 'PERU', 'UNITED STATES',
    'CHINA', 'INDIA', 'INDONESIA', 'JAPAN', 'VIETNAM', 'FRANCE', 'GERMANY', 'ROMANIA', 'RUSSIA', 'UNITED KINGDOM',
    'EGYPT', 'IRAN', 'IRAQ', 'JORDAN', 'SAUDI ARABIA'][n + 1];
CREATE MACRO region(n) AS ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'][n // 5 + 1];
-- Nine characters of the nation and a digit
CREATE MACRO city(n, digit) AS rpad(left(nation(n), 9), 9, ' ') || digit;
CREATE MACRO digits(i, k, count) AS lpad(even(i, k, 10 ** count)::varchar, count, '0');
CREATE MACRO phone(i, k, n) AS
    (n + 10) || '-' || digits(i, k, 3) || '-' || digits(i, k + 1, 3) || '-' || digits(i, k + 2, 4);
CREATE MACRO address(i, k) AS left(md5('address ' || i || ' ' || k), (10 + even(i, k, 16))::integer);
CREATE MACRO color(i, k) AS [
    'almond', 'antique', 'aquamarine', 'azure', 'beige', 'bisque', 'black', 'blanched', 'blue', 'blush', 'brown',
    'burlywood', 'burnished', 'chartreuse', 'chiffon', 'chocolate', 'coral', 'cornflower', 'cornsilk', 'cream', 'cyan',
    'dark', 'deep', 'dim', 'dodger', 'drab', 'firebrick', 'floral', 'forest', 'frosted', 'gainsboro', 'ghost',
    'goldenrod', 'green', 'grey', 'honeydew', 'hot', 'indian', 'ivory', 'khaki', 'lace', 'lavender', 'lawn', 'lemon',
    'light', 'lime', 'linen', 'magenta', 'maroon', 'medium', 'metallic', 'midnight', 'mint', 'misty', 'moccasin',
    'navajo', 'navy', 'olive', 'orange', 'orchid', 'pale', 'papaya', 'peach', 'peru', 'pink', 'plum', 'powder', 'puff',
    'purple', 'red', 'rose', 'rosy', 'royal', 'saddle', 'salmon', 'sandy', 'seashell', 'sienna', 'sky', 'slate',
    'smoke', 'snow', 'spring', 'steel', 'tan', 'thistle', 'tomato', 'turquoise', 'violet', 'wheat', 'white',
    'yellow'][even(i, k, 92) + 1];
CREATE MACRO datekey(day) AS (year(day) * 10000 + month(day) * 100 + day(day))::integer;

CREATE VIEW date AS
SELECT
    datekey(day) AS d_datekey,
    strftime(day, '%B %-d, %Y') AS d_date,
    dayname(day) AS d_dayofweek,
    monthname(day) AS d_month,
    year(day) AS d_year,
    year(day) * 100 + month(day) AS d_yearmonthnum,
    strftime(day, '%b%Y') AS d_yearmonth,
    dayofweek(day) + 1 AS d_daynuminweek,
    day(day) AS d_daynuminmonth,
    dayofyear(day) AS d_daynuminyear,
    month(day) AS d_monthnuminyear,
    (dayofyear(day) - 1) // 7 + 1 AS d_weeknuminyear,
    ['Winter', 'Winter', 'Winter', 'Spring', 'Summer', 'Summer', 'Summer', 'Summer', 'Fall', 'Fall', 'Christmas',
        'Christmas'][month(day)] AS d_sellingseason,
    dayofweek(day) = 6 AS d_lastdayinweekfl,
    day = last_day(day) AS d_lastdayinmonthfl,
    strftime(day, '%m%d') IN ('0101', '0220', '0420', '0520', '0720', '0820', '0920', '1020', '1120', '1224')
        AS d_holidayfl,
    dayofweek(day) BETWEEN 1 AND 5 AS d_weekdayfl
FROM (SELECT date '1992-01-01' + i::integer AS day FROM range(2556) AS numbers(i));

CREATE VIEW supplier AS
SELECT
    i AS s_suppkey,
    'Supplier#' || lpad(i::varchar, 9, '0') AS s_name,
    address(i, 301) AS s_address,
    city(n, even(i + seed(), 303, 10)) AS s_city,
    nation(n) AS s_nation,
    region(n) AS s_region,
    phone(i, 304, n) AS s_phone
FROM (SELECT i, even(i + seed(), 302, 25) AS n FROM range(1, suppliers() + 1) AS numbers(i));

CREATE VIEW customer AS
SELECT
    i AS c_custkey,
    'Customer#' || lpad(i::varchar, 9, '0') AS c_name,
    address(i, 201) AS c_address,
    city(n, even(i + seed(), 203, 10)) AS c_city,
    nation(n) AS c_nation,
    region(n) AS c_region,
    phone(i, 204, n) AS c_phone,
    ['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'MACHINERY', 'HOUSEHOLD'][even(i, 207, 5) + 1] AS c_mktsegment
FROM (SELECT i, even(i + seed(), 202, 25) AS n FROM range(1, customers() + 1) AS numbers(i));

CREATE VIEW part AS
SELECT
    i AS p_partkey,
    color(i, 101) || ' ' || color(i, 102) AS p_name,
    'MFGR#' || maker AS p_mfgr,
    'MFGR#' || maker || category AS p_category,
    'MFGR#' || maker || category || (even(i, 105, 40) + 1) AS p_brand1,
    color(i, 101) AS p_color,
    ['STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO'][even(i, 106, 6) + 1] || ' '
        || ['ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED'][even(i, 107, 5) + 1] || ' '
        || ['TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER'][even(i, 108, 5) + 1] AS p_type,
    even(i, 109, 50) + 1 AS p_size,
    ['SM', 'LG', 'MED', 'JUMBO', 'WRAP'][even(i, 110, 5) + 1] || ' '
        || ['CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM'][even(i, 111, 8) + 1] AS p_container
FROM (SELECT i, even(i, 103, 5) + 1 AS maker, even(i, 104, 5) + 1 AS category
    FROM range(1, parts() + 1) AS numbers(i));

-- A line's numbers, from its order's number and its own: TPC-H's price of the part, in cents
CREATE MACRO line(i, number) AS i * 8 + number;
CREATE MACRO partkey(l) AS even(l, 1, parts()) + 1;
CREATE MACRO price(p) AS 90000 + p // 10 % 20001 + p % 1000 * 100;
CREATE MACRO quantity(l) AS even(l, 2, 50) + 1;
CREATE MACRO discount(l) AS even(l, 3, 11);
CREATE MACRO tax(l) AS even(l, 4, 9);
CREATE MACRO extended(l) AS quantity(l) * price(partkey(l));
CREATE MACRO revenue(l) AS extended(l) * (100 - discount(l)) // 100;
CREATE MACRO charge(l) AS revenue(l) * (100 + tax(l)) // 100;

CREATE VIEW lineorder AS
WITH orders AS (
    SELECT i, even(i, 401, 7) + 1 AS lines, even(i, 402, customers() - customers() // 3) AS buyer,
        -- The last order's last commitment falls into the table of dates.
        date '1992-01-01' + even(i, 403, 2406)::integer AS day
    FROM range(orders()) AS numbers(i)
), lines AS (
    SELECT *, list_sum([charge(line(i, x)) for x in range(1, lines + 1)]) AS total, unnest(range(1, lines + 1)) AS n
    FROM orders
)
SELECT
    -- The first 8 keys of each 32 are used, and customers whose key is a multiple of three order nothing.
    i // 8 * 32 + i % 8 + 1 AS lo_orderkey,
    n AS lo_linenumber,
    buyer + buyer // 2 + 1 AS lo_custkey,
    partkey(line(i, n)) AS lo_partkey,
    even(line(i, n), 5, suppliers()) + 1 AS lo_suppkey,
    datekey(day) AS lo_orderdate,
    ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'][even(i, 404, 5) + 1] AS lo_orderpriority,
    '0' AS lo_shippriority,
    quantity(line(i, n)) AS lo_quantity,
    extended(line(i, n)) AS lo_extendedprice,
    total AS lo_ordtotalprice,
    discount(line(i, n)) AS lo_discount,
    revenue(line(i, n)) AS lo_revenue,
    price(partkey(line(i, n))) * 6 // 10 AS lo_supplycost,
    tax(line(i, n)) AS lo_tax,
    datekey(day + (30 + even(line(i, n), 6, 61))::integer) AS lo_commitdate,
    ['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB'][even(line(i, n), 7, 7) + 1] AS lo_shipmode
FROM lines;
