-- The table the workflow writes to. The account of the credential needs SELECT, INSERT and UPDATE on it.
CREATE TABLE orders (
  payment_id text PRIMARY KEY,
  invoice_no bigint GENERATED ALWAYS AS IDENTITY (START WITH 20260001) UNIQUE,
  order_id text,
  customer text,
  email text,
  -- In the currency's smallest unit.
  amount bigint NOT NULL CHECK (amount > 0),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  paid_at timestamptz NOT NULL,
  invoiced_at timestamptz
);
CREATE INDEX orders_by_day ON orders (paid_at);
