-- What belongs to deleted executions is deleted by one statement for all of them. Foreign keys would look into each of these tables once for
-- each execution, which was three quarters of what deleting one cost. Their rows are only inserted by statements that lock the execution.
ALTER TABLE callbacks DROP CONSTRAINT callbacks_execution_id_fkey;
ALTER TABLE execution_checkpoints DROP CONSTRAINT execution_checkpoints_execution_id_fkey;
ALTER TABLE execution_follow_ups DROP CONSTRAINT execution_follow_ups_execution_id_fkey;
ALTER TABLE execution_signals DROP CONSTRAINT execution_signals_execution_id_fkey;

CREATE FUNCTION forget_records() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM callbacks r USING gone WHERE r.execution_id = gone.id;
  DELETE FROM execution_checkpoints r USING gone WHERE r.execution_id = gone.id;
  DELETE FROM execution_follow_ups r USING gone WHERE r.execution_id = gone.id;
  DELETE FROM execution_signals r USING gone WHERE r.execution_id = gone.id;
  RETURN NULL;
END $$;
CREATE TRIGGER executions_forget_records AFTER DELETE ON executions REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION forget_records();
