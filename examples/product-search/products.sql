-- The products of a shop, and a trigger that reports each change of one.
CREATE TABLE products (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  title text NOT NULL,
  description text,
  changed_at timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION report_product() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    NEW.changed_at = now();
  END IF;
  PERFORM pg_notify('products', json_build_object('id', CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END)::text);
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE TRIGGER report_product BEFORE INSERT OR UPDATE OR DELETE ON products
  FOR EACH ROW EXECUTE FUNCTION report_product();
