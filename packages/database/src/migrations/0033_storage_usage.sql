-- Bytes of the input and of all node records, as JSON text. Executions that were stored before have 0, and don't count.
ALTER TABLE executions ADD COLUMN kept_bytes bigint NOT NULL DEFAULT 0;

-- What statements add to or take from what organisations store. They only append, and don't wait for each other; a worker adds the rows up and deletes them.
CREATE TABLE storage_changes (
  organisation_id bigint NOT NULL,
  bytes bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE storage_usage (
  organisation_id bigint PRIMARY KEY REFERENCES organisations ON DELETE CASCADE,
  -- Of executions.
  bytes bigint NOT NULL
);

-- However they are deleted.
CREATE FUNCTION note_deleted_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO storage_changes (organisation_id, bytes)
  SELECT organisation_id, -sum(kept_bytes) FROM gone WHERE kept_bytes > 0 GROUP BY organisation_id;
  RETURN NULL;
END $$;
CREATE TRIGGER executions_note_deleted_bytes AFTER DELETE ON executions
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_deleted_bytes();

-- Beside the number of entries: the bytes of their keys and values.
ALTER TABLE data_usage ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
UPDATE data_usage u SET bytes = e.bytes
FROM (SELECT organisation_id, sum(octet_length(key) + octet_length(value::text)) AS bytes FROM data_entries
  GROUP BY organisation_id) e
WHERE e.organisation_id = u.organisation_id;

CREATE OR REPLACE FUNCTION count_data_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO data_usage (organisation_id, entries, bytes)
    SELECT organisation_id, count(*), sum(octet_length(key) + octet_length(value::text)) FROM changed
    GROUP BY organisation_id ORDER BY organisation_id
    ON CONFLICT (organisation_id) DO UPDATE
      SET entries = data_usage.entries + excluded.entries, bytes = data_usage.bytes + excluded.bytes;
  ELSE
    UPDATE data_usage u SET entries = u.entries - c.entries, bytes = u.bytes - c.bytes
    FROM (SELECT organisation_id, count(*) AS entries, sum(octet_length(key) + octet_length(value::text)) AS bytes
      FROM changed GROUP BY organisation_id) c
    WHERE u.organisation_id = c.organisation_id;
  END IF;
  RETURN NULL;
END $$;

-- A value of the same size, such as most counters, doesn't touch the organisation's row.
CREATE FUNCTION count_data_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE data_usage u SET bytes = u.bytes + c.bytes
  FROM (SELECT organisation_id, sum(bytes) AS bytes FROM (
      SELECT organisation_id, octet_length(value::text) AS bytes FROM changed
      UNION ALL SELECT organisation_id, -octet_length(value::text) FROM former) s
    GROUP BY organisation_id) c
  WHERE u.organisation_id = c.organisation_id AND c.bytes <> 0;
  RETURN NULL;
END $$;
CREATE TRIGGER data_entries_count_update AFTER UPDATE ON data_entries
  REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_data_bytes();

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['storage_changes', 'storage_usage'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY organisation ON %I USING (organisation_visible(organisation_id))', t);
  END LOOP;
END $$;
