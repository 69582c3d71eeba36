-- What the templates of settings.search_keys came to when it was started, by name; null for most executions.
ALTER TABLE executions ADD COLUMN search_keys json;

-- The same by value and in small letters, newest last. Only executions with search keys have rows here.
CREATE TABLE execution_search_keys (
  organisation_id bigint NOT NULL,
  value text NOT NULL,
  execution_id bigint NOT NULL,
  PRIMARY KEY (organisation_id, value, execution_id)
);

-- However they are inserted, and in the same statement.
CREATE FUNCTION index_search_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO execution_search_keys (organisation_id, value, execution_id)
  SELECT DISTINCT NEW.organisation_id, lower(value), NEW.id FROM json_each_text(NEW.search_keys);
  RETURN NULL;
END $$;
CREATE TRIGGER executions_index_search_keys AFTER INSERT ON executions
  FOR EACH ROW WHEN (NEW.search_keys IS NOT NULL) EXECUTE FUNCTION index_search_keys();

-- However they are deleted. A foreign key would look for rows of every execution, and most have none.
CREATE FUNCTION forget_search_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM execution_search_keys k USING (
    SELECT DISTINCT organisation_id, lower(e.value) AS value, id FROM gone CROSS JOIN LATERAL json_each_text(search_keys) e
    WHERE search_keys IS NOT NULL) g
  WHERE k.organisation_id = g.organisation_id AND k.value = g.value AND k.execution_id = g.id;
  RETURN NULL;
END $$;
CREATE TRIGGER executions_forget_search_keys AFTER DELETE ON executions
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_search_keys();

ALTER TABLE execution_search_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE execution_search_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON execution_search_keys USING (organisation_visible(organisation_id));
