-- What is known of files. Their bytes lie in a store under their id: the row comes before them and goes after them.
CREATE TABLE files (
  id uuid PRIMARY KEY,
  organisation_id bigint NOT NULL,
  state text NOT NULL CHECK (state IN ('writing', 'stored', 'deleting')),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  type text NOT NULL CHECK (char_length(type) BETWEEN 1 AND 255),
  -- In bytes. While it is written: what is reserved for it.
  size bigint NOT NULL CHECK (size >= 0),
  -- Null until it is stored.
  sha256 bytea CHECK (octet_length(sha256) = 32),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When the sweep looks at it again; null: once an execution that refers to it is deleted.
  sweep_at timestamptz,
  CHECK (state <> 'stored' OR sha256 IS NOT NULL),
  CHECK (state = 'stored' OR sweep_at IS NOT NULL)
);
CREATE INDEX files_to_sweep ON files (sweep_at) WHERE sweep_at IS NOT NULL;

-- The executions that refer to a file; they may read it.
CREATE TABLE execution_files (
  organisation_id bigint NOT NULL,
  execution_id bigint NOT NULL,
  file_id uuid NOT NULL REFERENCES files,
  PRIMARY KEY (execution_id, file_id)
);
CREATE INDEX execution_files_by_file ON execution_files (file_id);

-- What the rows of an organisation come to, so that a limit can be enforced where space is reserved.
CREATE TABLE file_usage (
  organisation_id bigint PRIMARY KEY,
  files bigint NOT NULL,
  bytes bigint NOT NULL
);

CREATE FUNCTION count_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO file_usage (organisation_id, files, bytes) VALUES (NEW.organisation_id, 1, NEW.size)
    ON CONFLICT (organisation_id) DO UPDATE
      SET files = file_usage.files + 1, bytes = file_usage.bytes + excluded.bytes;
  ELSIF TG_OP = 'DELETE' THEN
    UPDATE file_usage SET files = files - 1, bytes = bytes - OLD.size WHERE organisation_id = OLD.organisation_id;
  ELSE
    UPDATE file_usage SET bytes = bytes + NEW.size - OLD.size WHERE organisation_id = NEW.organisation_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER files_count AFTER INSERT OR DELETE ON files FOR EACH ROW EXECUTE FUNCTION count_files();
CREATE TRIGGER files_count_update AFTER UPDATE ON files
  FOR EACH ROW WHEN (NEW.size <> OLD.size) EXECUTE FUNCTION count_files();

-- The files that it is given when it is stored: {"ids": [...], "of": the execution that must have them, or null}; null for most.
ALTER TABLE executions ADD COLUMN given_files json;

-- The lock keeps the sweep from deleting them meanwhile; what it was about to delete is not given.
CREATE FUNCTION give_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO execution_files (organisation_id, execution_id, file_id)
  SELECT NEW.organisation_id, NEW.id, f.id FROM files f
  WHERE f.id = ANY (ARRAY(SELECT json_array_elements_text(NEW.given_files -> 'ids')::uuid))
    AND f.organisation_id = NEW.organisation_id AND f.state = 'stored'
    AND (NEW.given_files ->> 'of' IS NULL OR EXISTS (SELECT FROM execution_files r
      WHERE r.execution_id = (NEW.given_files ->> 'of')::bigint AND r.file_id = f.id
        AND r.organisation_id = NEW.organisation_id))
  ORDER BY f.id FOR SHARE OF f;
  RETURN NULL;
END $$;
CREATE TRIGGER executions_give_files AFTER INSERT ON executions
  FOR EACH ROW WHEN (NEW.given_files IS NOT NULL) EXECUTE FUNCTION give_files();

-- However they are deleted. The sweep then looks whether others refer to the files.
CREATE FUNCTION forget_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  WITH forgotten AS (
    DELETE FROM execution_files r USING gone WHERE r.execution_id = gone.id RETURNING r.file_id
  )
  UPDATE files f SET sweep_at = now() WHERE f.state = 'stored' AND f.id IN (SELECT file_id FROM forgotten);
  RETURN NULL;
END $$;
CREATE TRIGGER executions_forget_files AFTER DELETE ON executions
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_files();

ALTER TABLE files ENABLE ROW LEVEL SECURITY;
ALTER TABLE files FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON files USING (organisation_visible(organisation_id));
ALTER TABLE execution_files ENABLE ROW LEVEL SECURITY;
ALTER TABLE execution_files FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON execution_files USING (organisation_visible(organisation_id));
ALTER TABLE file_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE file_usage FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON file_usage USING (organisation_visible(organisation_id));
