-- How executions of a workflow ended, by the hour of their end. Kept for longer than the executions.
CREATE TABLE workflow_runs (
  workflow_id bigint NOT NULL REFERENCES workflows ON DELETE CASCADE,
  hour timestamptz NOT NULL,
  organisation_id bigint NOT NULL,
  completed bigint NOT NULL CHECK (completed >= 0),
  failed bigint NOT NULL CHECK (failed >= 0),
  -- Counts by classes of durations.
  durations bigint[] NOT NULL,
  PRIMARY KEY (workflow_id, hour)
);
CREATE INDEX workflow_runs_by_age ON workflow_runs (hour);

ALTER TABLE workflow_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_runs FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON workflow_runs USING (organisation_visible(organisation_id));
