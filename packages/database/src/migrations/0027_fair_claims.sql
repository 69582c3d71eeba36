-- Organisations take turns in the queue: a claim walks from one organisation with work to the next.
DROP INDEX executions_queued;
CREATE INDEX executions_queued ON executions (organisation_id, id)
  WHERE status = 'queued' AND max_concurrency IS NULL;
-- Beside executions_waiting, which finds what is due without asking every organisation; this one is walked when more is
-- due than one claim takes.
CREATE INDEX executions_waiting_by_organisation ON executions (organisation_id, wake_at)
  WHERE status = 'waiting_async' AND max_concurrency IS NULL;
