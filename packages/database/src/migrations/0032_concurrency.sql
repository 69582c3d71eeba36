ALTER TABLE executions
  -- SHA-256 of the key of settings.concurrency; empty for none.
  ADD COLUMN concurrency_key bytea NOT NULL DEFAULT '' CHECK (octet_length(concurrency_key) IN (0, 32)),
  -- So many executions of its workflow that have this key are running at the same time at most; NULL for no limit. Whatever has
  -- one has a max_concurrency, too: the largest integer if its workflow has none.
  ADD COLUMN concurrency_limit integer CHECK (concurrency_limit >= 1),
  -- Until it is decided whether it is skipped, or which older executions it cancels; it can't be claimed before.
  ADD COLUMN on_limit text CHECK (on_limit IN ('skip', 'cancel_running')),
  ADD CONSTRAINT executions_concurrency_check CHECK (
    CASE WHEN concurrency_limit IS NULL THEN concurrency_key = '' AND on_limit IS NULL ELSE max_concurrency IS NOT NULL END);

DROP INDEX executions_limited_queued;
DROP INDEX executions_limited_running;
CREATE INDEX executions_limited_queued ON executions (workflow_id, concurrency_key, id)
  WHERE status = 'queued' AND max_concurrency IS NOT NULL AND on_limit IS NULL AND held_until IS NULL;
CREATE INDEX executions_limited_running ON executions (workflow_id, concurrency_key)
  WHERE status = 'running' AND max_concurrency IS NOT NULL;
CREATE INDEX executions_undecided ON executions (workflow_id, id)
  WHERE status = 'queued' AND on_limit IS NOT NULL AND held_until IS NULL;
-- Those that skip others, and that others cancel.
CREATE INDEX executions_decided ON executions (workflow_id, concurrency_key, id)
  WHERE completed_at IS NULL AND concurrency_limit IS NOT NULL AND on_limit IS NULL;
