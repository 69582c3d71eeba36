-- What is stored together with a start is in the row itself, as chunk 1: one row to insert instead of two, and no foreign key to check.
ALTER TABLE executions ADD COLUMN first_records json, ADD COLUMN first_records_at timestamptz;
ALTER TABLE executions ADD CHECK ((first_records IS NULL) = (first_records_at IS NULL));

-- All chunks of an execution, wherever they are. The reader's row-level security applies, not the owner's.
CREATE VIEW execution_chunks WITH (security_invoker = true) AS
  SELECT id AS execution_id, 1 AS seq, organisation_id, first_records AS records, first_records_at AS created_at
  FROM executions WHERE first_records IS NOT NULL
  UNION ALL
  SELECT execution_id, seq, organisation_id, records, created_at FROM execution_checkpoints;

-- An execution that has ended by the time it is inserted leaves follow-ups, too.
CREATE TRIGGER executions_leave_follow_ups_at_once AFTER INSERT ON executions
  FOR EACH ROW WHEN (NEW.completed_at IS NOT NULL AND NEW.error_workflow_id IS NOT NULL)
  EXECUTE FUNCTION leave_follow_ups();
