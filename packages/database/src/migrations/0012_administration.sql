-- What an organisation decides for itself. No row, or NULL: as the service is configured.
CREATE TABLE organisation_settings (
  organisation_id bigint PRIMARY KEY REFERENCES organisations ON DELETE CASCADE,
  -- IANA name, what new workflows and schedules begin with.
  time_zone text CHECK (char_length(time_zone) BETWEEN 1 AND 100),
  -- Never longer than the service keeps executions: the shorter of both counts.
  retention_days_completed integer CHECK (retention_days_completed >= 1),
  retention_days_failed integer CHECK (retention_days_failed >= 1),
  retention_days_cancelled integer CHECK (retention_days_cancelled >= 1),
  -- Of all API keys together.
  requests_per_minute integer CHECK (requests_per_minute >= 1),
  -- The only hosts that nodes may call; what the service forbids stays forbidden. Empty: none at all.
  allowed_hosts text[] CHECK (cardinality(allowed_hosts) <= 200),
  updated_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE organisation_settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE organisation_settings FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON organisation_settings USING (organisation_visible(organisation_id));

-- How the service fares, a row a minute, whichever process wrote it.
CREATE TABLE service_samples (
  minute timestamptz PRIMARY KEY,
  -- Counted up to a bound only, see the statement that writes them.
  queued integer NOT NULL,
  running integer NOT NULL,
  waiting integer NOT NULL,
  workers integer NOT NULL,
  -- The last id that was given to an execution: the difference of two samples is what was started in between.
  last_execution_id bigint NOT NULL,
  -- Since the sample before; NULL when there is none of the last hour.
  started bigint CHECK (started >= 0),
  failed bigint CHECK (failed >= 0),
  seconds double precision CHECK (seconds > 0),
  sampled_at timestamptz NOT NULL,
  database_bytes bigint NOT NULL,
  CHECK ((seconds IS NULL) = (started IS NULL) AND (seconds IS NULL) = (failed IS NULL))
);

-- Few rows, so that starts pay nothing for it.
CREATE INDEX executions_failed_by_end ON executions (completed_at) WHERE status = 'failed';

-- Bounds of time become bounds of the id that the log is read by; a filter on the action does not read all others.
CREATE INDEX audit_log_by_time ON audit_log (organisation_id, occurred_at);
CREATE INDEX audit_log_by_action ON audit_log (organisation_id, action, id);
