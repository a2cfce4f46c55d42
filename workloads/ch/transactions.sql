-- TPC-C's five transactions (its clause 2) as functions, with its random numbers. Those that write count themselves in
-- the row of their client, so that a query can tell which of them it saw.
CREATE TABLE freshness (client integer PRIMARY KEY, number bigint NOT NULL);

-- Time goes on from when the tables were loaded: the queries' dates are of that time.
CREATE FUNCTION ch_now() RETURNS timestamp LANGUAGE sql STABLE AS
$$ SELECT timestamp '2010-06-02' + (clock_timestamp() - pg_postmaster_start_time()) $$;

CREATE FUNCTION uniform(low integer, high integer) RETURNS integer LANGUAGE sql VOLATILE AS
$$ SELECT low + floor(random() * (high - low + 1))::integer $$;

CREATE FUNCTION nurand(a integer, low integer, high integer) RETURNS integer LANGUAGE sql VOLATILE AS
$$ SELECT ((uniform(0, a) | uniform(low, high)) + 223) % (high - low + 1) + low $$;

CREATE FUNCTION last_name(number integer) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT string_agg((ARRAY['BAR', 'OUGHT', 'ABLE', 'PRI', 'PRES', 'ESE', 'ANTI', 'CALLY', 'ATION', 'EING'])
        [number / place % 10 + 1], '' ORDER BY place DESC)
    FROM unnest(ARRAY[100, 10, 1]) place $$;

-- 60 % by last name: the one in the middle of those with the name
CREATE FUNCTION choose_customer(w integer, d integer, customers integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    name text;
    found integer[];
BEGIN
    IF uniform(1, 100) > 60 THEN
        RETURN nurand(1023, 1, customers);
    END IF;
    name := last_name(nurand(255, 0, least(999, customers - 1)));
    SELECT array_agg(c_id ORDER BY c_first) INTO found
    FROM customer WHERE c_w_id = w AND c_d_id = d AND c_last = name;
    RETURN found[(cardinality(found) + 1) / 2];
END $$;

CREATE FUNCTION count_transaction(client_number integer) RETURNS void LANGUAGE sql AS
$$ UPDATE freshness SET number = number + 1 WHERE client = client_number $$;

CREATE FUNCTION place_order(w integer, warehouses integer, customers integer, items integer, is_wrong boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    d integer := uniform(1, 10);
    c integer := nurand(1023, 1, customers);
    lines integer := uniform(5, 15);
    entered timestamp := ch_now();
    line record;
    ordered record;
    numbers record;
    o integer;
    dist text;
BEGIN
    SELECT w_tax INTO numbers FROM warehouse WHERE w_id = w;
    SELECT c_discount, c_last, c_credit INTO numbers FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d RETURNING d_next_o_id - 1 INTO o;
    -- In the order of their keys, so that two orders never wait for each other; a wrong item comes last.
    SELECT array_agg(i ORDER BY supply, i) AS ids, array_agg(supply ORDER BY supply, i) AS supplies
    INTO ordered
    FROM (SELECT CASE WHEN is_wrong AND number = lines THEN items + 1 ELSE nurand(8191, 1, items) END AS i,
              CASE WHEN warehouses > 1 AND uniform(1, 100) = 1 THEN (w + uniform(0, warehouses - 2)) % warehouses + 1
                  ELSE w END AS supply
          FROM generate_series(1, lines) number) chosen;
    INSERT INTO orders VALUES (o, d, w, c, entered, NULL, lines, (w = ALL (ordered.supplies))::integer);
    INSERT INTO new_order VALUES (o, d, w);
    FOR line IN SELECT number, i, supply, uniform(1, 10) AS quantity
                FROM unnest(ordered.ids, ordered.supplies) WITH ORDINALITY chosen (i, supply, number) LOOP
        SELECT i_price, i_name, i_data INTO numbers FROM item WHERE i_id = line.i;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'item number is not valid' USING ERRCODE = 'no_data_found';
        END IF;
        UPDATE stock
        SET s_quantity = s_quantity - line.quantity + CASE WHEN s_quantity >= line.quantity + 10 THEN 0 ELSE 91 END,
            s_ytd = s_ytd + line.quantity, s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + (line.supply <> w)::integer
        WHERE s_w_id = line.supply AND s_i_id = line.i
        RETURNING (ARRAY[s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08,
            s_dist_09, s_dist_10])[d] INTO dist;
        INSERT INTO order_line
        VALUES (o, d, w, line.number, line.i, line.supply, NULL, line.quantity, line.quantity * numbers.i_price, dist);
    END LOOP;
END $$;

-- One in a hundred is rolled back.
CREATE FUNCTION new_order(client integer, warehouses integer, customers integer, items integer)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    w integer := client % warehouses + 1;
BEGIN
    IF uniform(1, 100) > 1 THEN
        PERFORM place_order(w, warehouses, customers, items, false);
    ELSE
        BEGIN
            PERFORM place_order(w, warehouses, customers, items, true);
        EXCEPTION WHEN no_data_found THEN
        END;
    END IF;
    PERFORM count_transaction(client);
END $$;

CREATE FUNCTION payment(client integer, warehouses integer, customers integer, items integer)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    w integer := client % warehouses + 1;
    d integer := uniform(1, 10);
    is_remote boolean := warehouses > 1 AND uniform(1, 100) > 85;
    c_w integer := CASE WHEN is_remote THEN (w + uniform(0, warehouses - 2)) % warehouses + 1 ELSE w END;
    c_d integer := CASE WHEN is_remote THEN uniform(1, 10) ELSE d END;
    c integer := choose_customer(c_w, c_d, customers);
    paid decimal(6,2) := uniform(100, 500000) / 100.0;
    warehouse_name text;
    district_name text;
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + paid WHERE w_id = w RETURNING w_name INTO warehouse_name;
    UPDATE district SET d_ytd = d_ytd + paid WHERE d_w_id = w AND d_id = d RETURNING d_name INTO district_name;
    UPDATE customer
    SET c_balance = c_balance - paid, c_ytd_payment = c_ytd_payment + paid, c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC'
            THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, d, w, paid, c_data), 500) ELSE c_data END
    WHERE c_w_id = c_w AND c_d_id = c_d AND c_id = c;
    INSERT INTO history VALUES (c, c_d, c_w, d, w, ch_now(), paid, warehouse_name || '    ' || district_name);
    PERFORM count_transaction(client);
END $$;

CREATE FUNCTION order_status(client integer, warehouses integer, customers integer, items integer)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    w integer := client % warehouses + 1;
    d integer := uniform(1, 10);
    c integer := choose_customer(w, d, customers);
    latest record;
BEGIN
    PERFORM c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    SELECT o_id, o_entry_d, o_carrier_id INTO latest
    FROM orders WHERE o_w_id = w AND o_d_id = d AND o_c_id = c ORDER BY o_id DESC LIMIT 1;
    PERFORM ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
    FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = latest.o_id;
END $$;

CREATE FUNCTION delivery(client integer, warehouses integer, customers integer, items integer)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    w integer := client % warehouses + 1;
    carrier integer := uniform(1, 10);
    o integer;
    c integer;
    total decimal(12,2);
BEGIN
    FOR d IN 1 .. 10 LOOP
        DELETE FROM new_order
        WHERE no_w_id = w AND no_d_id = d AND no_o_id = (
            SELECT no_o_id FROM new_order WHERE no_w_id = w AND no_d_id = d
            ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING no_o_id INTO o;
        CONTINUE WHEN NOT FOUND;
        UPDATE orders SET o_carrier_id = carrier WHERE o_w_id = w AND o_d_id = d AND o_id = o RETURNING o_c_id INTO c;
        UPDATE order_line SET ol_delivery_d = ch_now() WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
        SELECT sum(ol_amount) INTO total FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
        UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    END LOOP;
    PERFORM count_transaction(client);
END $$;

CREATE FUNCTION stock_level(client integer, warehouses integer, customers integer, items integer)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    w integer := client % warehouses + 1;
    d integer := uniform(1, 10);
    threshold integer := uniform(10, 20);
    next integer;
BEGIN
    SELECT d_next_o_id INTO next FROM district WHERE d_w_id = w AND d_id = d;
    PERFORM count(DISTINCT s_i_id)
    FROM order_line, stock
    WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id >= next - 20 AND ol_o_id < next
      AND s_w_id = w AND s_i_id = ol_i_id AND s_quantity < threshold;
END $$;
