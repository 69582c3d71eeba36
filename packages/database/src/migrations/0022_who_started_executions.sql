-- Which key started an execution, and from which address; both null for what the service starts by itself. No foreign key:
-- keys are deleted with their organisation only, and every start would lock the key's row.
ALTER TABLE executions ADD COLUMN api_key_id bigint, ADD COLUMN source_ip text;
CREATE INDEX executions_by_key ON executions (api_key_id, id) WHERE api_key_id IS NOT NULL;
