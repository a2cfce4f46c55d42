CREATE TABLE sales (
    id bigint NOT NULL,
    region integer NOT NULL,
    shop integer NOT NULL,
    customer integer NOT NULL,
    sold_at timestamp NOT NULL,
    quantity integer NOT NULL,
    discount integer,
    amount decimal(12, 2) NOT NULL,
    weight double precision NOT NULL,
    product varchar NOT NULL
);
