-- Waiting for what others do: signals, child executions, callbacks, approvals, limits on what runs at the same time, and
-- workflows that are started by the failure of another.

ALTER TABLE executions
  -- How many signals were sent to it.
  ADD COLUMN signal_seq integer NOT NULL DEFAULT 0,
  -- The node that started it; all NULL for none. No foreign key: a child outlives its parent's retention.
  ADD COLUMN parent_execution_id bigint,
  ADD COLUMN parent_node_id text,
  ADD COLUMN parent_iteration integer[],
  -- SHA-256 of node, iteration and call key: one child for each.
  ADD COLUMN parent_call bytea CHECK (octet_length(parent_call) = 32),
  -- The parent's node waits: it is told of the end, and the parent's end cancels this one.
  ADD COLUMN parent_waits boolean NOT NULL DEFAULT false,
  -- It has had children that it waits for.
  ADD COLUMN has_waited_children boolean NOT NULL DEFAULT false,
  -- Executions that started one another, up to this one: 0 for one that a person or a trigger started.
  ADD COLUMN depth integer NOT NULL DEFAULT 0 CHECK (depth >= 0),
  -- So many executions of its workflow that carry a limit are running at the same time at most; NULL for no limit.
  ADD COLUMN max_concurrency integer CHECK (max_concurrency >= 1),
  -- Started with the error when this one fails.
  ADD COLUMN error_workflow_id bigint,
  ADD CHECK ((parent_execution_id IS NULL) = (parent_node_id IS NULL)),
  ADD CHECK ((parent_execution_id IS NULL) = (parent_iteration IS NULL)),
  ADD CHECK ((parent_execution_id IS NULL) = (parent_call IS NULL)),
  ADD CHECK (parent_execution_id IS NOT NULL OR NOT parent_waits);

CREATE UNIQUE INDEX executions_children ON executions (parent_execution_id, parent_call)
  WHERE parent_execution_id IS NOT NULL;

-- The queue in two: what has a limit on its workflow is claimed on a way of its own, so neither keeps the other waiting.
DROP INDEX executions_queued;
DROP INDEX executions_waiting;
CREATE INDEX executions_queued ON executions (id) WHERE status = 'queued' AND max_concurrency IS NULL;
CREATE INDEX executions_waiting ON executions (wake_at) WHERE status = 'waiting_async' AND max_concurrency IS NULL;
CREATE INDEX executions_limited_queued ON executions (workflow_id, id)
  WHERE status = 'queued' AND max_concurrency IS NOT NULL;
CREATE INDEX executions_limited_waiting ON executions (workflow_id, wake_at)
  WHERE status = 'waiting_async' AND max_concurrency IS NOT NULL;
CREATE INDEX executions_limited_running ON executions (workflow_id)
  WHERE status = 'running' AND max_concurrency IS NOT NULL;

-- What nodes were told, in the order of sending. Stored by the statement that raises executions.signal_seq.
CREATE TABLE execution_signals (
  execution_id bigint NOT NULL REFERENCES executions ON DELETE CASCADE,
  seq integer NOT NULL CHECK (seq >= 1),
  organisation_id bigint NOT NULL,
  node_id text NOT NULL,
  iteration integer[] NOT NULL,
  payload json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (execution_id, seq)
);

-- What the end of an execution leaves to be done with other executions. Stored with the end by a trigger, whoever wrote
-- it, and done by short statements of their own: nothing holds the rows of a parent and of its child at the same time.
CREATE TABLE execution_follow_ups (
  kind text NOT NULL CHECK (kind IN ('tell_parent', 'cancel_children', 'start_error_workflow')),
  -- The execution that ended.
  execution_id bigint NOT NULL REFERENCES executions ON DELETE CASCADE,
  organisation_id bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (kind, execution_id)
);

CREATE FUNCTION leave_follow_ups() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO execution_follow_ups (kind, execution_id, organisation_id)
  SELECT kind, NEW.id, NEW.organisation_id
  FROM (VALUES
    ('tell_parent', NEW.parent_waits),
    ('cancel_children', NEW.has_waited_children),
    -- One that was started by an error starts none, so that two which fail do not start each other for ever.
    ('start_error_workflow',
      NEW.status = 'failed' AND NEW.error_workflow_id IS NOT NULL AND NEW.trigger_type <> 'error')
  ) AS f (kind, is_due)
  WHERE is_due;
  RETURN NULL;
END $$;
CREATE TRIGGER executions_leave_follow_ups AFTER UPDATE ON executions FOR EACH ROW
  WHEN (NEW.completed_at IS NOT NULL AND OLD.completed_at IS NULL
    AND (NEW.parent_waits OR NEW.has_waited_children OR NEW.error_workflow_id IS NOT NULL))
  EXECUTE FUNCTION leave_follow_ups();

-- One-time addresses whose use sends a node its signal: callbacks of other systems, decisions of people.
CREATE TABLE callbacks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organisation_id bigint NOT NULL,
  execution_id bigint NOT NULL REFERENCES executions ON DELETE CASCADE,
  node_id text NOT NULL,
  iteration integer[] NOT NULL,
  kind text NOT NULL CHECK (kind IN ('callback', 'approval')),
  -- The token stands in the address alone.
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  -- What is asked, of an approval: choices is a list of {id, label}.
  title text,
  message text,
  choices json,
  -- Its answer. decided_by: {via: link, name} or {via: member, member_id, email}.
  decision text,
  comment text,
  decided_by json,
  CHECK ((kind = 'approval') = (title IS NOT NULL AND message IS NOT NULL AND choices IS NOT NULL)),
  CHECK ((kind = 'approval' AND used_at IS NOT NULL)
    = (decision IS NOT NULL AND comment IS NOT NULL AND decided_by IS NOT NULL))
);
CREATE INDEX callbacks_by_execution ON callbacks (execution_id);
CREATE INDEX callbacks_pending_approvals ON callbacks (organisation_id, id) WHERE kind = 'approval' AND used_at IS NULL;

-- Makes the tokens of callbacks. Each uuid brings 122 bits of the server's strong random numbers.
INSERT INTO service_secrets (name, value)
VALUES ('callback', sha256((gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text)::bytea));

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['execution_signals', 'execution_follow_ups', 'callbacks'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY organisation ON %I USING (organisation_visible(organisation_id))', t);
  END LOOP;
END $$;
