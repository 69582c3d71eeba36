-- Every table carries organisation_id. Row-level security stands behind the queries' own filters: a transaction
-- opened for one organisation (millrace.organisation_id is set) sees and writes that organisation's rows only;
-- the worker, authentication and the command line run without the setting and see all.
CREATE FUNCTION organisation_visible(organisation_id bigint) RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce(current_setting('millrace.organisation_id', true), '') = ''
    OR organisation_id = nullif(current_setting('millrace.organisation_id', true), '')::bigint;

CREATE TABLE organisations (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (char_length(name) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE members (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  email text NOT NULL CHECK (email = lower(email) AND email LIKE '%_@_%'),
  role text NOT NULL CHECK (role IN ('viewer', 'editor', 'org_admin', 'system_admin')),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- A member who left stays as a row, so that the keys they issued can be seen to have lost their issuer.
  removed_at timestamptz
);
CREATE UNIQUE INDEX members_present_email ON members (organisation_id, email) WHERE removed_at IS NULL;

CREATE TABLE api_keys (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  -- The part of the key that may be seen in logs: mr_<key_id>_<secret><checksum>.
  key_id text NOT NULL UNIQUE CHECK (key_id ~ '^[A-Za-z0-9]{12}$'),
  -- All keys that descend from one issue by rotation; idempotency keys belong to the family.
  family_id uuid NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  scopes text[] NOT NULL CHECK (
    cardinality(scopes) > 0
    AND scopes <@ ARRAY['workflows:read', 'workflows:write', 'executions:execute', 'executions:read']
  ),
  secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
  last_four text NOT NULL CHECK (char_length(last_four) = 4),
  -- NULL: issued by the operator on the command line, whose rights no role cuts.
  issued_by bigint REFERENCES members,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  rotated_at timestamptz,
  revoked_at timestamptz,
  locked_at timestamptz,
  consecutive_failures integer NOT NULL DEFAULT 0 CHECK (consecutive_failures >= 0),
  last_used_at timestamptz,
  last_used_ip text
);
CREATE INDEX api_keys_by_organisation ON api_keys (organisation_id, id);

CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  occurred_at timestamptz NOT NULL DEFAULT now(),
  action text NOT NULL,
  -- Who did it: an API key, a member, the operator's command line or the service itself.
  actor text NOT NULL CHECK (actor IN ('api_key', 'member', 'operator', 'service')),
  api_key_id bigint REFERENCES api_keys ON DELETE SET NULL,
  member_id bigint REFERENCES members ON DELETE SET NULL,
  source_ip text,
  request_id text,
  details json NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_log_by_organisation ON audit_log (organisation_id, id);
CREATE INDEX audit_log_by_age ON audit_log (occurred_at);

CREATE TABLE workflows (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  description text NOT NULL DEFAULT '' CHECK (char_length(description) <= 10000),
  status text NOT NULL CHECK (status IN ('draft', 'active', 'inactive', 'archived')),
  tags text[] NOT NULL DEFAULT '{}' CHECK (cardinality(tags) <= 50),
  is_test_mode boolean NOT NULL DEFAULT false,
  -- The saved version: its flow_data is in workflow_versions.
  version integer NOT NULL CHECK (version >= 1),
  -- Type of the saved version's trigger node; NULL while a draft has none.
  trigger_type text,
  webhook_hash text NOT NULL UNIQUE CHECK (webhook_hash ~ '^[A-Za-z0-9_-]{43}$'),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX workflows_by_organisation ON workflows (organisation_id, id);
CREATE INDEX workflows_by_status ON workflows (organisation_id, status, id);

-- flow_data is json, not jsonb: numbers, key order and \u0000 come back as they were sent.
CREATE TABLE workflow_versions (
  workflow_id bigint NOT NULL REFERENCES workflows ON DELETE CASCADE,
  version integer NOT NULL CHECK (version >= 1),
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  flow_data json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  api_key_id bigint REFERENCES api_keys ON DELETE SET NULL,
  restored_from integer,
  PRIMARY KEY (workflow_id, version)
);

CREATE TABLE idempotency_records (
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  key_family_id uuid NOT NULL,
  -- Method and concrete path, so that one key on two workflows is two requests.
  route text NOT NULL,
  idempotency_key text NOT NULL,
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  status integer NOT NULL CHECK (status BETWEEN 200 AND 299),
  location text,
  -- The first answer, byte for byte.
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (key_family_id, route, idempotency_key)
);
CREATE INDEX idempotency_records_by_age ON idempotency_records (created_at);

CREATE TABLE workers (
  id uuid PRIMARY KEY,
  host text NOT NULL,
  pid integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  heartbeat_at timestamptz NOT NULL DEFAULT now(),
  -- One lease for all that the worker holds: renewing it is one row, however many executions run.
  lease_expires_at timestamptz NOT NULL
);

CREATE SEQUENCE execution_ids AS bigint;

-- The row is the queue: status, lease and result stand in one place.
CREATE TABLE executions (
  id bigint PRIMARY KEY DEFAULT nextval('execution_ids'),
  organisation_id bigint NOT NULL,
  workflow_id bigint NOT NULL,
  workflow_version integer NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'waiting_async', 'completed', 'failed', 'cancelled')),
  -- What started it: api or webhook.
  trigger_type text NOT NULL,
  display_name text NOT NULL,
  is_test_mode boolean NOT NULL,
  input json NOT NULL,
  -- Times are cut to the milliseconds that answers show, so that a shown time works as a filter's bound.
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
  started_at timestamptz,
  completed_at timestamptz,
  -- Milliseconds from started_at after which it fails; NULL for no limit.
  timeout_ms bigint CHECK (timeout_ms > 0),
  consumed_ai_tokens bigint NOT NULL DEFAULT 0,
  error json,
  wake_at timestamptz,
  worker_id uuid,
  -- Fencing token: raised by every claim, carried by every write of the worker.
  claim integer NOT NULL DEFAULT 0,
  -- The last chunk's seq in execution_checkpoints.
  checkpoint_seq integer NOT NULL DEFAULT 0,
  crashed_attempts integer NOT NULL DEFAULT 0,
  rerun_of bigint,
  FOREIGN KEY (workflow_id, workflow_version) REFERENCES workflow_versions ON DELETE CASCADE,
  CHECK ((status = 'running') = (worker_id IS NOT NULL)),
  CHECK ((status = 'waiting_async') = (wake_at IS NOT NULL)),
  CHECK ((status IN ('completed', 'failed', 'cancelled')) = (completed_at IS NOT NULL)),
  CHECK ((status = 'failed') = (error IS NOT NULL)),
  CHECK (completed_at >= started_at)
) WITH (
  -- Every execution leaves at least one dead row version behind; a share of the history would be too long to wait for.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000
);
CREATE INDEX executions_by_organisation ON executions (organisation_id, id);
CREATE INDEX executions_by_workflow ON executions (organisation_id, workflow_id, id);
-- Turns the bounds of a filter on creation into bounds on the id, which lists are ordered by.
CREATE INDEX executions_by_creation ON executions (organisation_id, created_at);
-- Most rows of a long history are completed, and a filter on them is met by the index above; the rest is small.
CREATE INDEX executions_by_status ON executions (organisation_id, status, id) WHERE status <> 'completed';
CREATE INDEX executions_queued ON executions (id) WHERE status = 'queued';
CREATE INDEX executions_waiting ON executions (wake_at) WHERE status = 'waiting_async';
CREATE INDEX executions_running ON executions (worker_id) WHERE status = 'running';
CREATE INDEX executions_crashed ON executions (id) WHERE crashed_attempts > 0 AND completed_at IS NULL;

-- Only these changes of status exist; a final row never changes at all.
CREATE FUNCTION guard_execution_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status IN ('completed', 'failed', 'cancelled') THEN
    RAISE EXCEPTION 'execution % is % and cannot change', OLD.id, OLD.status USING ERRCODE = 'MR001';
  END IF;
  IF NEW.status NOT IN (OLD.status, 'running', 'failed', 'cancelled') THEN
    RAISE EXCEPTION 'execution % cannot go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'MR002';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER executions_guard_status BEFORE UPDATE ON executions FOR EACH ROW
  WHEN (OLD.status <> 'running') EXECUTE FUNCTION guard_execution_status();

-- Append-only journal of node records: a chunk per checkpoint. Later records of a node replace earlier ones.
CREATE TABLE execution_checkpoints (
  execution_id bigint NOT NULL REFERENCES executions ON DELETE CASCADE,
  seq integer NOT NULL CHECK (seq >= 1),
  organisation_id bigint NOT NULL,
  records json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (execution_id, seq)
);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['members', 'api_keys', 'audit_log', 'workflows', 'workflow_versions',
    'idempotency_records', 'executions', 'execution_checkpoints'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY organisation ON %I USING (organisation_visible(organisation_id))', t);
  END LOOP;
END $$;
