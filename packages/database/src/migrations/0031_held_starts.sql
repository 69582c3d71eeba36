-- Queued, but not to be claimed before it is released: its workflow's rate or debounce holds it, probably until then.
ALTER TABLE executions ADD COLUMN held_until timestamptz;
ALTER TABLE executions ADD CONSTRAINT executions_held_check CHECK (held_until IS NULL OR status IN ('queued', 'cancelled'));
-- Why the service itself cancelled it, and the execution that made it superfluous; null when a person did, or its
-- parent's end.
ALTER TABLE executions ADD COLUMN cancel_code text;
ALTER TABLE executions ADD COLUMN cancelled_for bigint;
ALTER TABLE executions ADD CONSTRAINT executions_cancel_check
  CHECK (cancel_code IS NULL OR status = 'cancelled'), ADD CONSTRAINT executions_cancelled_for_check
  CHECK (cancelled_for IS NULL OR cancel_code IS NOT NULL);

DROP INDEX executions_queued;
CREATE INDEX executions_queued ON executions (organisation_id, priority DESC, id)
  WHERE status = 'queued' AND max_concurrency IS NULL AND held_until IS NULL;
DROP INDEX executions_limited_queued;
CREATE INDEX executions_limited_queued ON executions (workflow_id, id)
  WHERE status = 'queued' AND max_concurrency IS NOT NULL AND held_until IS NULL;
CREATE INDEX executions_held ON executions (organisation_id, id) WHERE status = 'queued' AND held_until IS NOT NULL;

-- When the next start of a workflow and key may be released, and how many wait for that.
CREATE TABLE start_rates (
  workflow_id bigint NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  key_hash bytea NOT NULL CHECK (octet_length(key_hash) = 32),
  organisation_id bigint NOT NULL,
  interval_us bigint NOT NULL CHECK (interval_us > 0),
  tolerance_us bigint NOT NULL CHECK (tolerance_us >= 0),
  due_at timestamptz NOT NULL,
  -- Rows in held_starts; those of cancelled executions count until it is their turn.
  waiting bigint NOT NULL DEFAULT 0 CHECK (waiting >= 0),
  last_seq bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (workflow_id, key_hash)
);
CREATE INDEX start_rates_due ON start_rates (due_at) WHERE waiting > 0;
CREATE INDEX start_rates_idle ON start_rates (due_at) WHERE waiting = 0;

-- The queues of the rates, in order. Only ever changed by whoever holds the row of the rate.
CREATE TABLE held_starts (
  workflow_id bigint NOT NULL,
  key_hash bytea NOT NULL,
  seq bigint NOT NULL,
  execution_id bigint NOT NULL UNIQUE,
  organisation_id bigint NOT NULL,
  PRIMARY KEY (workflow_id, key_hash, seq),
  FOREIGN KEY (workflow_id, key_hash) REFERENCES start_rates ON DELETE CASCADE
);

-- The last start of a workflow and key, waiting for a newer one.
CREATE TABLE start_debounces (
  workflow_id bigint NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  key_hash bytea NOT NULL CHECK (octet_length(key_hash) = 32),
  organisation_id bigint NOT NULL,
  -- Null only within the transaction that makes the row.
  execution_id bigint,
  first_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  -- The rate it joins when it is released; all null for none.
  rate_key_hash bytea CHECK (octet_length(rate_key_hash) = 32),
  rate_interval_us bigint,
  rate_tolerance_us bigint,
  PRIMARY KEY (workflow_id, key_hash),
  CHECK ((rate_key_hash IS NULL) = (rate_interval_us IS NULL) AND (rate_key_hash IS NULL) = (rate_tolerance_us IS NULL))
);
CREATE INDEX start_debounces_due ON start_debounces (due_at);

ALTER TABLE start_rates ENABLE ROW LEVEL SECURITY;
ALTER TABLE start_rates FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON start_rates USING (organisation_visible(organisation_id));
ALTER TABLE held_starts ENABLE ROW LEVEL SECURITY;
ALTER TABLE held_starts FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON held_starts USING (organisation_visible(organisation_id));
ALTER TABLE start_debounces ENABLE ROW LEVEL SECURITY;
ALTER TABLE start_debounces FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON start_debounces USING (organisation_visible(organisation_id));
