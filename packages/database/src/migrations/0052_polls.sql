-- A row per workflow that has ever been active with a trigger that polls. What it polls stands in the saved version.
CREATE TABLE polls (
  workflow_id bigint PRIMARY KEY REFERENCES workflows ON DELETE CASCADE,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  -- SHA-256 of what is polled. When it changes, polling begins afresh.
  source bytea NOT NULL CHECK (octet_length(source) = 32),
  -- When the next poll is due; NULL while the workflow is not active.
  next_poll_at timestamptz,
  -- Counts up with each poll, and when polling stops or begins afresh: a poll writes only while it is still its own.
  claim bigint NOT NULL DEFAULT 0,
  -- Until then no other process polls; NULL while none does.
  leased_until timestamptz,
  -- Where the next poll continues, as the trigger left it; NULL where ids are enough.
  position json,
  -- Whether a poll has succeeded since polling began.
  is_primed boolean NOT NULL DEFAULT false,
  -- Ids of items that were started and that the source was not told about yet: a list.
  unacknowledged json,
  last_poll_at timestamptz,
  last_success_at timestamptz,
  -- Items of the last successful poll that were new.
  last_started integer NOT NULL DEFAULT 0 CHECK (last_started >= 0),
  started bigint NOT NULL DEFAULT 0 CHECK (started >= 0),
  -- Polls that have failed since the last successful one.
  failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
  -- Of the last poll; NULL if nothing went wrong.
  last_error json,
  -- Whether alert rules were told of these failures.
  is_told boolean NOT NULL DEFAULT false
);
CREATE INDEX polls_due ON polls (next_poll_at) WHERE next_poll_at IS NOT NULL;

-- What was found. The key is what makes an item start one execution, however often and by whichever process it is found.
CREATE TABLE polled_items (
  workflow_id bigint NOT NULL REFERENCES polls ON DELETE CASCADE,
  -- SHA-256 of the item's id.
  item_hash bytea NOT NULL CHECK (octet_length(item_hash) = 32),
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  -- When a poll last found it, to a day.
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workflow_id, item_hash)
);
CREATE INDEX polled_items_by_age ON polled_items (seen_at);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['polls', 'polled_items'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY organisation ON %I USING (organisation_visible(organisation_id))', t);
  END LOOP;
END $$;
