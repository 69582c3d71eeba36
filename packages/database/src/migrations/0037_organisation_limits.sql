-- What an organisation may queue and store, where that differs from the settings. Null: as the settings say; 0: no limit. Few have any; processes
-- read those.
ALTER TABLE organisations
  ADD COLUMN queue_limit integer CHECK (queue_limit >= 0),
  ADD COLUMN executions_storage_bytes bigint CHECK (executions_storage_bytes >= 0),
  ADD COLUMN data_storage_bytes bigint CHECK (data_storage_bytes >= 0);
CREATE INDEX organisations_with_own_limits ON organisations (id)
  WHERE queue_limit IS NOT NULL OR executions_storage_bytes IS NOT NULL OR data_storage_bytes IS NOT NULL;
