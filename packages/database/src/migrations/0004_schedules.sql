-- A row per workflow that has ever been active with a schedule trigger. The definition stands here too, so that the
-- next fire follows from this row alone and an outage cannot end the chain.
CREATE TABLE schedules (
  workflow_id bigint PRIMARY KEY REFERENCES workflows ON DELETE CASCADE,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  -- The settings of the saved version's trigger node.
  definition json NOT NULL,
  -- The next time the definition names; NULL while the workflow is not active, and when there is none.
  next_fire_time timestamptz,
  -- When that fire is due: jitter comes on top. Moved on by itself when firing failed and is to be tried again.
  next_fire_at timestamptz,
  -- Fires recorded so far.
  fire_count bigint NOT NULL DEFAULT 0 CHECK (fire_count >= 0),
  CHECK ((next_fire_time IS NULL) = (next_fire_at IS NULL))
);
CREATE INDEX schedules_due ON schedules (next_fire_at) WHERE next_fire_at IS NOT NULL;

-- What became of each fire. The key is what makes a fire start one execution, however many processes run.
CREATE TABLE schedule_fires (
  workflow_id bigint NOT NULL REFERENCES workflows ON DELETE CASCADE,
  fire_time timestamptz NOT NULL,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  fire_number bigint NOT NULL CHECK (fire_number >= 1),
  -- Whether it came later than it should have, because no process ran.
  is_missed boolean NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('started', 'queued', 'skipped')),
  -- Why it was skipped: an earlier execution had not ended, too many were queued, it was missed, the workflow was
  -- no longer active when its turn came.
  reason text CHECK (reason IN ('overlap', 'queue_full', 'missed', 'inactive')),
  execution_id bigint,
  -- Whether its execution was not seen to have ended yet.
  is_open boolean NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workflow_id, fire_time),
  CHECK ((outcome = 'started') = (execution_id IS NOT NULL)),
  CHECK ((outcome = 'skipped') = (reason IS NOT NULL)),
  CHECK (outcome = 'started' OR NOT is_open)
);
CREATE INDEX schedule_fires_open ON schedule_fires (workflow_id) WHERE is_open;
CREATE INDEX schedule_fires_queued ON schedule_fires (workflow_id, fire_time) WHERE outcome = 'queued';
CREATE INDEX schedule_fires_by_age ON schedule_fires (recorded_at);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['schedules', 'schedule_fires'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY organisation ON %I USING (organisation_visible(organisation_id))', t);
  END LOOP;
END $$;
