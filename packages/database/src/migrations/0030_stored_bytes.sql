-- Bytes of all outputs that were stored for the execution, which have a limit. Executions that were running before count from what is restored.
ALTER TABLE executions ADD COLUMN stored_bytes bigint NOT NULL DEFAULT 0;
