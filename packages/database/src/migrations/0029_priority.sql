-- settings.priority of the version that was started: 0 low, 1 normal, 2 high. An organisation's queue is in this order.
ALTER TABLE executions ADD COLUMN priority smallint NOT NULL DEFAULT 1 CHECK (priority BETWEEN 0 AND 2);
DROP INDEX executions_queued;
CREATE INDEX executions_queued ON executions (organisation_id, priority DESC, id)
  WHERE status = 'queued' AND max_concurrency IS NULL;
