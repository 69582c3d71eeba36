-- Made by "npm run db:dump" from the migrations. Changes go into a new migration, never in here.

CREATE OR REPLACE FUNCTION public.guard_execution_status()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF OLD.status IN ('completed', 'failed', 'cancelled') THEN
    RAISE EXCEPTION 'execution % is % and cannot change', OLD.id, OLD.status USING ERRCODE = 'MR001';
  END IF;
  IF NEW.status NOT IN (OLD.status, 'running', 'failed', 'cancelled') THEN
    RAISE EXCEPTION 'execution % cannot go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'MR002';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.organisation_visible(organisation_id bigint)
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN ((COALESCE(current_setting('millrace.organisation_id'::text, true), ''::text) = ''::text) OR (organisation_id = (NULLIF(current_setting('millrace.organisation_id'::text, true), ''::text))::bigint));

CREATE SEQUENCE execution_ids AS bigint START 1 INCREMENT 1;

CREATE TABLE api_keys (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  organisation_id bigint NOT NULL,
  key_id text NOT NULL,
  family_id uuid NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL,
  secret_hash bytea NOT NULL,
  last_four text NOT NULL,
  issued_by bigint,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  expires_at timestamp with time zone,
  rotated_at timestamp with time zone,
  revoked_at timestamp with time zone,
  locked_at timestamp with time zone,
  consecutive_failures integer DEFAULT 0 NOT NULL,
  last_used_at timestamp with time zone,
  last_used_ip text,
  CONSTRAINT api_keys_key_id_key UNIQUE (key_id),
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_consecutive_failures_check CHECK ((consecutive_failures >= 0)),
  CONSTRAINT api_keys_key_id_check CHECK ((key_id ~ '^[A-Za-z0-9]{12}$'::text)),
  CONSTRAINT api_keys_last_four_check CHECK ((char_length(last_four) = 4)),
  CONSTRAINT api_keys_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT api_keys_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['workflows:read'::text, 'workflows:write'::text, 'executions:execute'::text, 'executions:read'::text]))),
  CONSTRAINT api_keys_secret_hash_check CHECK ((octet_length(secret_hash) = 32))
);

CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  organisation_id bigint NOT NULL,
  occurred_at timestamp with time zone DEFAULT now() NOT NULL,
  action text NOT NULL,
  actor text NOT NULL,
  api_key_id bigint,
  member_id bigint,
  source_ip text,
  request_id text,
  details json DEFAULT '{}'::json NOT NULL,
  CONSTRAINT audit_log_pkey PRIMARY KEY (id),
  CONSTRAINT audit_log_actor_check CHECK ((actor = ANY (ARRAY['api_key'::text, 'member'::text, 'operator'::text, 'service'::text])))
);

CREATE TABLE execution_checkpoints (
  execution_id bigint NOT NULL,
  seq integer NOT NULL,
  organisation_id bigint NOT NULL,
  records json NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT execution_checkpoints_pkey PRIMARY KEY (execution_id, seq),
  CONSTRAINT execution_checkpoints_seq_check CHECK ((seq >= 1))
);

CREATE TABLE executions (
  id bigint DEFAULT nextval('execution_ids'::regclass) NOT NULL,
  organisation_id bigint NOT NULL,
  workflow_id bigint NOT NULL,
  workflow_version integer NOT NULL,
  status text NOT NULL,
  trigger_type text NOT NULL,
  display_name text NOT NULL,
  is_test_mode boolean NOT NULL,
  input json NOT NULL,
  created_at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
  started_at timestamp with time zone,
  completed_at timestamp with time zone,
  timeout_ms bigint,
  consumed_ai_tokens bigint DEFAULT 0 NOT NULL,
  error json,
  wake_at timestamp with time zone,
  worker_id uuid,
  claim integer DEFAULT 0 NOT NULL,
  checkpoint_seq integer DEFAULT 0 NOT NULL,
  crashed_attempts integer DEFAULT 0 NOT NULL,
  rerun_of bigint,
  CONSTRAINT executions_pkey PRIMARY KEY (id),
  CONSTRAINT executions_check CHECK (((status = 'running'::text) = (worker_id IS NOT NULL))),
  CONSTRAINT executions_check1 CHECK (((status = 'waiting_async'::text) = (wake_at IS NOT NULL))),
  CONSTRAINT executions_check2 CHECK (((status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) = (completed_at IS NOT NULL))),
  CONSTRAINT executions_check3 CHECK (((status = 'failed'::text) = (error IS NOT NULL))),
  CONSTRAINT executions_check4 CHECK ((completed_at >= started_at)),
  CONSTRAINT executions_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'waiting_async'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
  CONSTRAINT executions_timeout_ms_check CHECK ((timeout_ms > 0))
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000);

CREATE TABLE idempotency_records (
  organisation_id bigint NOT NULL,
  key_family_id uuid NOT NULL,
  route text NOT NULL,
  idempotency_key text NOT NULL,
  fingerprint bytea NOT NULL,
  status integer NOT NULL,
  location text,
  body text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT idempotency_records_pkey PRIMARY KEY (key_family_id, route, idempotency_key),
  CONSTRAINT idempotency_records_fingerprint_check CHECK ((octet_length(fingerprint) = 32)),
  CONSTRAINT idempotency_records_status_check CHECK (((status >= 200) AND (status <= 299)))
);

CREATE TABLE members (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  organisation_id bigint NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  removed_at timestamp with time zone,
  CONSTRAINT members_pkey PRIMARY KEY (id),
  CONSTRAINT members_email_check CHECK (((email = lower(email)) AND (email ~~ '%_@_%'::text))),
  CONSTRAINT members_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'editor'::text, 'org_admin'::text, 'system_admin'::text])))
);

CREATE TABLE organisations (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT organisations_name_key UNIQUE (name),
  CONSTRAINT organisations_pkey PRIMARY KEY (id),
  CONSTRAINT organisations_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
);

CREATE TABLE schema_migrations (
  version integer NOT NULL,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (version),
  CONSTRAINT schema_migrations_version_check CHECK ((version >= 1))
);

CREATE TABLE service_secrets (
  name text NOT NULL,
  value bytea NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT service_secrets_pkey PRIMARY KEY (name),
  CONSTRAINT service_secrets_name_check CHECK ((name ~ '^[a-z_]+$'::text)),
  CONSTRAINT service_secrets_value_check CHECK ((octet_length(value) = 32))
);

CREATE TABLE workers (
  id uuid NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  started_at timestamp with time zone DEFAULT now() NOT NULL,
  heartbeat_at timestamp with time zone DEFAULT now() NOT NULL,
  lease_expires_at timestamp with time zone NOT NULL,
  CONSTRAINT workers_pkey PRIMARY KEY (id)
);

CREATE TABLE workflow_versions (
  workflow_id bigint NOT NULL,
  version integer NOT NULL,
  organisation_id bigint NOT NULL,
  flow_data json NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  api_key_id bigint,
  restored_from integer,
  CONSTRAINT workflow_versions_pkey PRIMARY KEY (workflow_id, version),
  CONSTRAINT workflow_versions_version_check CHECK ((version >= 1))
);

CREATE TABLE workflows (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  organisation_id bigint NOT NULL,
  name text NOT NULL,
  description text DEFAULT ''::text NOT NULL,
  status text NOT NULL,
  tags text[] DEFAULT '{}'::text[] NOT NULL,
  is_test_mode boolean DEFAULT false NOT NULL,
  version integer NOT NULL,
  trigger_type text,
  webhook_hash text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT workflows_webhook_hash_key UNIQUE (webhook_hash),
  CONSTRAINT workflows_pkey PRIMARY KEY (id),
  CONSTRAINT workflows_description_check CHECK ((char_length(description) <= 10000)),
  CONSTRAINT workflows_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT workflows_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'inactive'::text, 'archived'::text]))),
  CONSTRAINT workflows_tags_check CHECK ((cardinality(tags) <= 50)),
  CONSTRAINT workflows_version_check CHECK ((version >= 1)),
  CONSTRAINT workflows_webhook_hash_check CHECK ((webhook_hash ~ '^[A-Za-z0-9_-]{43}$'::text))
);

ALTER TABLE api_keys ADD CONSTRAINT api_keys_issued_by_fkey FOREIGN KEY (issued_by) REFERENCES members(id);

ALTER TABLE api_keys ADD CONSTRAINT api_keys_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE audit_log ADD CONSTRAINT audit_log_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id) ON DELETE SET NULL;

ALTER TABLE audit_log ADD CONSTRAINT audit_log_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id) ON DELETE SET NULL;

ALTER TABLE audit_log ADD CONSTRAINT audit_log_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE execution_checkpoints ADD CONSTRAINT execution_checkpoints_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES executions(id) ON DELETE CASCADE;

ALTER TABLE executions ADD CONSTRAINT executions_workflow_id_workflow_version_fkey FOREIGN KEY (workflow_id, workflow_version) REFERENCES workflow_versions(workflow_id, version) ON DELETE CASCADE;

ALTER TABLE idempotency_records ADD CONSTRAINT idempotency_records_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE members ADD CONSTRAINT members_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE workflow_versions ADD CONSTRAINT workflow_versions_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id) ON DELETE SET NULL;

ALTER TABLE workflow_versions ADD CONSTRAINT workflow_versions_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE workflow_versions ADD CONSTRAINT workflow_versions_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE workflows ADD CONSTRAINT workflows_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

CREATE INDEX api_keys_by_organisation ON public.api_keys USING btree (organisation_id, id);

CREATE INDEX audit_log_by_age ON public.audit_log USING btree (occurred_at);

CREATE INDEX audit_log_by_organisation ON public.audit_log USING btree (organisation_id, id);

CREATE INDEX executions_by_creation ON public.executions USING btree (organisation_id, created_at);

CREATE INDEX executions_by_organisation ON public.executions USING btree (organisation_id, id);

CREATE INDEX executions_by_status ON public.executions USING btree (organisation_id, status, id) WHERE (status <> 'completed'::text);

CREATE INDEX executions_by_workflow ON public.executions USING btree (organisation_id, workflow_id, id);

CREATE INDEX executions_crashed ON public.executions USING btree (id) WHERE ((crashed_attempts > 0) AND (completed_at IS NULL));

CREATE INDEX executions_queued ON public.executions USING btree (id) WHERE (status = 'queued'::text);

CREATE INDEX executions_running ON public.executions USING btree (worker_id) WHERE (status = 'running'::text);

CREATE INDEX executions_waiting ON public.executions USING btree (wake_at) WHERE (status = 'waiting_async'::text);

CREATE INDEX idempotency_records_by_age ON public.idempotency_records USING btree (created_at);

CREATE UNIQUE INDEX members_present_email ON public.members USING btree (organisation_id, email) WHERE (removed_at IS NULL);

CREATE INDEX workflows_by_organisation ON public.workflows USING btree (organisation_id, id);

CREATE INDEX workflows_by_status ON public.workflows USING btree (organisation_id, status, id);

CREATE TRIGGER executions_guard_status BEFORE UPDATE ON public.executions FOR EACH ROW WHEN ((old.status <> 'running'::text)) EXECUTE FUNCTION guard_execution_status();

ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON api_keys AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE audit_log FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON audit_log AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE execution_checkpoints ENABLE ROW LEVEL SECURITY;

ALTER TABLE execution_checkpoints FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON execution_checkpoints AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE executions ENABLE ROW LEVEL SECURITY;

ALTER TABLE executions FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON executions AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE idempotency_records ENABLE ROW LEVEL SECURITY;

ALTER TABLE idempotency_records FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON idempotency_records AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE members ENABLE ROW LEVEL SECURITY;

ALTER TABLE members FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON members AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE workflow_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE workflow_versions FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON workflow_versions AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE workflows ENABLE ROW LEVEL SECURITY;

ALTER TABLE workflows FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON workflows AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));
