-- Texts that are found by their meaning. All vectors of a collection are of one model and one length, or they couldn't be compared.
CREATE TABLE vector_collections (
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  model text NOT NULL CHECK (char_length(model) <= 200),
  dimension integer NOT NULL CHECK (dimension BETWEEN 1 AND 4096),
  -- Counted by whoever writes, who has locked this row: counting the items themselves would take longer than writing them.
  items integer NOT NULL DEFAULT 0 CHECK (items >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organisation_id, name)
);

CREATE TABLE vector_items (
  organisation_id bigint NOT NULL,
  collection text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL CHECK (char_length(key) BETWEEN 1 AND 255),
  text text NOT NULL CHECK (octet_length(text) <= 131072),
  metadata jsonb NOT NULL CHECK (jsonb_typeof(metadata) = 'object' AND octet_length(metadata::text) <= 16384),
  -- Of length 1, as 32-bit numbers in little-endian order.
  vector bytea NOT NULL CHECK (octet_length(vector) BETWEEN 4 AND 16384),
  bytes integer NOT NULL GENERATED ALWAYS AS (
    octet_length(key) + octet_length(text) + octet_length(metadata::text) + octet_length(vector)) STORED,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organisation_id, collection, key),
  FOREIGN KEY (organisation_id, collection) REFERENCES vector_collections (organisation_id, name) ON DELETE CASCADE
);
-- Compressing them would take time and save nothing. A search reads all of them, so they stay in their rows as far as these fit in a page:
-- from beside the table, reading them takes twice as long.
ALTER TABLE vector_items ALTER COLUMN vector SET STORAGE EXTERNAL;
ALTER TABLE vector_items SET (toast_tuple_target = 8160);

-- Their bytes count as the organisation's data, beside the entries of data.store.
CREATE FUNCTION count_vector_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO data_usage (organisation_id, entries, bytes)
    SELECT organisation_id, 0, sum(bytes) FROM changed GROUP BY organisation_id ORDER BY organisation_id
    ON CONFLICT (organisation_id) DO UPDATE SET bytes = data_usage.bytes + excluded.bytes;
  ELSIF TG_OP = 'DELETE' THEN
    UPDATE data_usage u SET bytes = u.bytes - c.bytes
    FROM (SELECT organisation_id, sum(bytes) AS bytes FROM former GROUP BY organisation_id) c
    WHERE u.organisation_id = c.organisation_id;
  ELSE
    UPDATE data_usage u SET bytes = u.bytes + c.bytes
    FROM (SELECT organisation_id, sum(bytes) AS bytes FROM (
        SELECT organisation_id, bytes FROM changed
        UNION ALL SELECT organisation_id, -bytes FROM former) s
      GROUP BY organisation_id) c
    WHERE u.organisation_id = c.organisation_id AND c.bytes <> 0;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER vector_items_count_insert AFTER INSERT ON vector_items
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_vector_bytes();
CREATE TRIGGER vector_items_count_delete AFTER DELETE ON vector_items
  REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION count_vector_bytes();
CREATE TRIGGER vector_items_count_update AFTER UPDATE ON vector_items
  REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_vector_bytes();

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['vector_collections', 'vector_items'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY organisation ON %I USING (organisation_visible(organisation_id))', t);
  END LOOP;
END $$;
