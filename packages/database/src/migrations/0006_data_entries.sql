-- The small key-value table of each organisation. "C" sorts by code point, so that a prefix is a range of the index.
CREATE TABLE data_entries (
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  key text COLLATE "C" NOT NULL CHECK (char_length(key) BETWEEN 1 AND 255),
  value json NOT NULL CHECK (octet_length(value::text) <= 1048576),
  -- By the database's clock; an entry whose time has come counts as absent and is deleted later.
  expires_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organisation_id, key)
);
CREATE INDEX data_entries_by_expiry ON data_entries (expires_at) WHERE expires_at IS NOT NULL;

-- Writes that were applied, with what they led to: a node that is run again after a crash finds its own here, whatever
-- others have written in between.
CREATE TABLE data_writes (
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  write_key bytea NOT NULL CHECK (octet_length(write_key) = 32),
  -- {"value", "expires_at_ms"}; the value of increments only.
  result json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organisation_id, write_key)
);
CREATE INDEX data_writes_by_age ON data_writes (created_at);

-- How many entries there are; kept by the trigger, because counting them at every insert would cost more.
CREATE TABLE data_usage (
  organisation_id bigint PRIMARY KEY REFERENCES organisations ON DELETE CASCADE,
  entries bigint NOT NULL
);

CREATE FUNCTION count_data_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO data_usage (organisation_id, entries)
    SELECT organisation_id, count(*) FROM changed GROUP BY organisation_id ORDER BY organisation_id
    ON CONFLICT (organisation_id) DO UPDATE SET entries = data_usage.entries + excluded.entries;
  ELSE
    UPDATE data_usage u SET entries = u.entries - c.entries
    FROM (SELECT organisation_id, count(*) AS entries FROM changed GROUP BY organisation_id) c
    WHERE u.organisation_id = c.organisation_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER data_entries_count_insert AFTER INSERT ON data_entries
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_data_entries();
CREATE TRIGGER data_entries_count_delete AFTER DELETE ON data_entries
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_data_entries();

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['data_entries', 'data_writes', 'data_usage'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY organisation ON %I USING (organisation_visible(organisation_id))', t);
  END LOOP;
END $$;
