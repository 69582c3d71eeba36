CREATE TABLE public.api_keys (
    id bigint NOT NULL,
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
    issued_by_user bigint,
    CONSTRAINT api_keys_consecutive_failures_check CHECK ((consecutive_failures >= 0)),
    CONSTRAINT api_keys_key_id_check CHECK ((key_id ~ '^[A-Za-z0-9]{12}$'::text)),
    CONSTRAINT api_keys_last_four_check CHECK ((char_length(last_four) = 4)),
    CONSTRAINT api_keys_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
    CONSTRAINT api_keys_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['workflows:read'::text, 'workflows:write'::text, 'executions:execute'::text, 'executions:read'::text]))),
    CONSTRAINT api_keys_secret_hash_check CHECK ((octet_length(secret_hash) = 32))
);
ALTER TABLE ONLY public.api_keys FORCE ROW LEVEL SECURITY;
CREATE TABLE public.members (
    id bigint NOT NULL,
    organisation_id bigint NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    removed_at timestamp with time zone,
    CONSTRAINT members_email_check CHECK (((email = lower(email)) AND (email ~~ '%_@_%'::text))),
    CONSTRAINT members_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'editor'::text, 'org_admin'::text, 'system_admin'::text])))
);
ALTER TABLE ONLY public.members FORCE ROW LEVEL SECURITY;
CREATE TABLE public.users (
    id bigint NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    email_verified_at timestamp with time zone,
    password_hash text,
    totp_key_id text,
    totp_ciphertext bytea,
    totp_confirmed_at timestamp with time zone,
    totp_last_step bigint,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    removed_at timestamp with time zone,
    language text,
    CONSTRAINT users_check CHECK (((totp_key_id IS NULL) = (totp_ciphertext IS NULL))),
    CONSTRAINT users_check1 CHECK (((totp_confirmed_at IS NULL) OR (totp_ciphertext IS NOT NULL))),
    CONSTRAINT users_email_check CHECK (((email = lower(email)) AND (email ~~ '%_@_%'::text))),
    CONSTRAINT users_language_check CHECK ((language = ANY (ARRAY['en'::text, 'ja'::text]))),
    CONSTRAINT users_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
    CONSTRAINT users_removed_check CHECK (((removed_at IS NULL) OR ((password_hash IS NULL) AND (totp_ciphertext IS NULL))))
);
CREATE FUNCTION public.api_key_holder(k public.api_keys) RETURNS TABLE(issuer text, email text)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT
         CASE
             WHEN (((api_key_holder.k).issued_by IS NULL) AND ((api_key_holder.k).issued_by_user IS NULL)) THEN 'operator'::text
             WHEN (u.removed_at IS NOT NULL) THEN 'removed'::text
             WHEN (EXISTS ( SELECT
                FROM public.members s
               WHERE ((s.email = u.email) AND (s.removed_at IS NULL) AND (s.role = 'system_admin'::text)))) THEN 'system_admin'::text
             WHEN (m.removed_at IS NOT NULL) THEN 'removed'::text
             WHEN (m.id IS NOT NULL) THEN m.role
             ELSE COALESCE(( SELECT p.role
                FROM public.members p
               WHERE ((p.organisation_id = (api_key_holder.k).organisation_id) AND (p.email = u.email) AND (p.removed_at IS NULL))), 'removed'::text)
         END AS issuer,
     COALESCE(u.email, m.email) AS email
    FROM ((( SELECT) one
      LEFT JOIN public.users u ON ((u.id = (api_key_holder.k).issued_by_user)))
      LEFT JOIN public.members m ON ((m.id = (api_key_holder.k).issued_by)));
END;
CREATE FUNCTION public.api_key_valid_until(k public.api_keys) RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN LEAST((k).expires_at, ((k).rotated_at + '24:00:00'::interval));
CREATE FUNCTION public.api_key_state(k public.api_keys) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN ((k).revoked_at IS NOT NULL) THEN 'revoked'::text WHEN (public.api_key_valid_until(k) <= now()) THEN 'expired'::text WHEN ((k).locked_at IS NOT NULL) THEN 'locked'::text ELSE 'valid'::text END;
CREATE FUNCTION public.count_child_tokens() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  below record := NEW;
  above record;
BEGIN
  WHILE below.parent_execution_id IS NOT NULL LOOP
    SELECT id, parent_execution_id, parent_node_id, parent_iteration INTO above
    FROM executions WHERE id = below.parent_execution_id;
    EXIT WHEN NOT FOUND;
    INSERT INTO execution_child_tokens (execution_id, child_id, organisation_id, node_id, tokens)
    VALUES (above.id, NEW.id, NEW.organisation_id,
      CASE WHEN cardinality(below.parent_iteration) = 0 THEN below.parent_node_id END, NEW.consumed_ai_tokens);
    below := above;
  END LOOP;
  RETURN NULL;
END $$;
CREATE FUNCTION public.count_data_entries() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO data_usage (organisation_id, entries)
    SELECT organisation_id, count(*) FROM changed GROUP BY organisation_id ORDER BY organisation_id
    ON CONFLICT (organisation_id) DO UPDATE SET entries = data_usage.entries + excluded.entries;
  ELSE
    UPDATE data_usage u SET entries = u.entries - c.entries
    FROM (SELECT organisation_id, count(*) AS entries FROM changed GROUP BY organisation_id) c
    WHERE u.organisation_id = c.organisation_id;
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION public.forget_child_tokens() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM execution_child_tokens t USING gone WHERE t.execution_id = gone.id;
  RETURN NULL;
END $$;
CREATE FUNCTION public.guard_execution_status() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF OLD.status IN ('completed', 'failed', 'cancelled') THEN
    RAISE EXCEPTION 'execution % is % and cannot change', OLD.id, OLD.status USING ERRCODE = 'MR001';
  END IF;
  IF NEW.status NOT IN (OLD.status, 'running', 'failed', 'cancelled') THEN
    RAISE EXCEPTION 'execution % cannot go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'MR002';
  END IF;
  RETURN NEW;
END $$;
CREATE TABLE public.invitations (
    id bigint NOT NULL,
    organisation_id bigint NOT NULL,
    token_hash bytea NOT NULL,
    email text,
    role text NOT NULL,
    invited_by bigint,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    accepted_by bigint,
    revoked_at timestamp with time zone,
    proves_address boolean DEFAULT false NOT NULL,
    by_operator boolean DEFAULT false NOT NULL,
    CONSTRAINT invitations_check CHECK (((accepted_at IS NULL) OR (revoked_at IS NULL))),
    CONSTRAINT invitations_email_check CHECK (((email = lower(email)) AND (email ~~ '%_@_%'::text))),
    CONSTRAINT invitations_maker_check CHECK (((NOT by_operator) OR (invited_by IS NULL))),
    CONSTRAINT invitations_proof_check CHECK (((NOT proves_address) OR (email IS NOT NULL))),
    CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'editor'::text, 'org_admin'::text, 'system_admin'::text]))),
    CONSTRAINT invitations_token_hash_check CHECK ((octet_length(token_hash) = 32))
);
ALTER TABLE ONLY public.invitations FORCE ROW LEVEL SECURITY;
CREATE FUNCTION public.invitation_stands(i public.invitations) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN ((i).by_operator OR (EXISTS (SELECT FROM (public.users u JOIN public.members m ON (((m.email = u.email) AND (m.removed_at IS NULL)))) WHERE ((u.id = (invitation_stands.i).invited_by) AND (u.removed_at IS NULL) AND ((m.role = 'system_admin'::text) OR ((m.role = 'org_admin'::text) AND (m.organisation_id = (invitation_stands.i).organisation_id) AND ((invitation_stands.i).role <> 'system_admin'::text) AND (NOT (invitation_stands.i).proves_address)))))));
CREATE FUNCTION public.leave_follow_ups() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION public.organisation_visible(organisation_id bigint) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ((COALESCE(current_setting('millrace.organisation_id'::text, true), ''::text) = ''::text) OR (organisation_id = (NULLIF(current_setting('millrace.organisation_id'::text, true), ''::text))::bigint));
ALTER TABLE public.api_keys ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.api_keys_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.audit_log (
    id bigint NOT NULL,
    organisation_id bigint NOT NULL,
    occurred_at timestamp with time zone DEFAULT now() NOT NULL,
    action text NOT NULL,
    actor text NOT NULL,
    api_key_id bigint,
    member_id bigint,
    source_ip text,
    request_id text,
    details json DEFAULT '{}'::json NOT NULL,
    user_id bigint,
    repeat_key text,
    repeats integer DEFAULT 1 NOT NULL,
    last_occurred_at timestamp with time zone,
    CONSTRAINT audit_log_actor_check CHECK ((actor = ANY (ARRAY['api_key'::text, 'member'::text, 'user'::text, 'operator'::text, 'service'::text]))),
    CONSTRAINT audit_log_check CHECK (((repeat_key IS NULL) = (last_occurred_at IS NULL))),
    CONSTRAINT audit_log_check1 CHECK (((repeat_key IS NOT NULL) OR (repeats = 1))),
    CONSTRAINT audit_log_repeats_check CHECK ((repeats >= 1))
);
ALTER TABLE ONLY public.audit_log FORCE ROW LEVEL SECURITY;
ALTER TABLE public.audit_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.callbacks (
    id bigint NOT NULL,
    organisation_id bigint NOT NULL,
    execution_id bigint NOT NULL,
    node_id text NOT NULL,
    iteration integer[] NOT NULL,
    kind text NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    title text,
    message text,
    choices json,
    decision text,
    comment text,
    decided_by json,
    CONSTRAINT callbacks_check CHECK (((kind = 'approval'::text) = ((title IS NOT NULL) AND (message IS NOT NULL) AND (choices IS NOT NULL)))),
    CONSTRAINT callbacks_check1 CHECK ((((kind = 'approval'::text) AND (used_at IS NOT NULL)) = ((decision IS NOT NULL) AND (comment IS NOT NULL) AND (decided_by IS NOT NULL)))),
    CONSTRAINT callbacks_kind_check CHECK ((kind = ANY (ARRAY['callback'::text, 'approval'::text]))),
    CONSTRAINT callbacks_token_hash_check CHECK ((octet_length(token_hash) = 32))
);
ALTER TABLE ONLY public.callbacks FORCE ROW LEVEL SECURITY;
ALTER TABLE public.callbacks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.callbacks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.credentials (
    id bigint NOT NULL,
    organisation_id bigint NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    hosts text[] DEFAULT '{}'::text[] NOT NULL,
    settings json DEFAULT '{}'::json NOT NULL,
    key_id text,
    ciphertext bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    last_used_at timestamp with time zone,
    created_by bigint,
    stored_secrets text[],
    CONSTRAINT credentials_check CHECK (((key_id IS NULL) = (ciphertext IS NULL))),
    CONSTRAINT credentials_check1 CHECK (((type <> ALL (ARRAY['bearer'::text, 'basic'::text, 'header'::text])) OR (cardinality(hosts) > 0))),
    CONSTRAINT credentials_hosts_check CHECK ((cardinality(hosts) <= 50)),
    CONSTRAINT credentials_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
    CONSTRAINT credentials_type_check CHECK ((type = ANY (ARRAY['bearer'::text, 'basic'::text, 'header'::text, 'secret'::text, 'smtp'::text, 'sql'::text, 'ai'::text, 'chat'::text])))
);
ALTER TABLE ONLY public.credentials FORCE ROW LEVEL SECURITY;
ALTER TABLE public.credentials ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.credentials_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.data_entries (
    organisation_id bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    value json NOT NULL,
    expires_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT data_entries_key_check CHECK (((char_length(key) >= 1) AND (char_length(key) <= 255))),
    CONSTRAINT data_entries_value_check CHECK ((octet_length((value)::text) <= 1048576))
);
ALTER TABLE ONLY public.data_entries FORCE ROW LEVEL SECURITY;
CREATE TABLE public.data_usage (
    organisation_id bigint NOT NULL,
    entries bigint NOT NULL
);
ALTER TABLE ONLY public.data_usage FORCE ROW LEVEL SECURITY;
CREATE TABLE public.data_writes (
    organisation_id bigint NOT NULL,
    write_key bytea NOT NULL,
    result json NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT data_writes_write_key_check CHECK ((octet_length(write_key) = 32))
);
ALTER TABLE ONLY public.data_writes FORCE ROW LEVEL SECURITY;
CREATE SEQUENCE public.draft_revisions
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE public.execution_checkpoints (
    execution_id bigint NOT NULL,
    seq integer NOT NULL,
    organisation_id bigint NOT NULL,
    records json NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT execution_checkpoints_seq_check CHECK ((seq >= 1))
);
ALTER TABLE ONLY public.execution_checkpoints FORCE ROW LEVEL SECURITY;
CREATE TABLE public.execution_child_tokens (
    execution_id bigint NOT NULL,
    child_id bigint NOT NULL,
    organisation_id bigint NOT NULL,
    node_id text,
    tokens bigint NOT NULL,
    CONSTRAINT execution_child_tokens_tokens_check CHECK ((tokens > 0))
);
ALTER TABLE ONLY public.execution_child_tokens FORCE ROW LEVEL SECURITY;
CREATE TABLE public.execution_follow_ups (
    kind text NOT NULL,
    execution_id bigint NOT NULL,
    organisation_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT execution_follow_ups_kind_check CHECK ((kind = ANY (ARRAY['tell_parent'::text, 'cancel_children'::text, 'start_error_workflow'::text])))
);
ALTER TABLE ONLY public.execution_follow_ups FORCE ROW LEVEL SECURITY;
CREATE SEQUENCE public.execution_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE public.execution_signals (
    execution_id bigint NOT NULL,
    seq integer NOT NULL,
    organisation_id bigint NOT NULL,
    node_id text NOT NULL,
    iteration integer[] NOT NULL,
    payload json NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT execution_signals_seq_check CHECK ((seq >= 1))
);
ALTER TABLE ONLY public.execution_signals FORCE ROW LEVEL SECURITY;
CREATE TABLE public.executions (
    id bigint DEFAULT nextval('public.execution_ids'::regclass) NOT NULL,
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
    signal_seq integer DEFAULT 0 NOT NULL,
    parent_execution_id bigint,
    parent_node_id text,
    parent_iteration integer[],
    parent_call bytea,
    parent_waits boolean DEFAULT false NOT NULL,
    has_waited_children boolean DEFAULT false NOT NULL,
    depth integer DEFAULT 0 NOT NULL,
    max_concurrency integer,
    error_workflow_id bigint,
    api_key_id bigint,
    source_ip text,
    CONSTRAINT executions_check CHECK (((status = 'running'::text) = (worker_id IS NOT NULL))),
    CONSTRAINT executions_check1 CHECK (((status = 'waiting_async'::text) = (wake_at IS NOT NULL))),
    CONSTRAINT executions_check2 CHECK (((status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) = (completed_at IS NOT NULL))),
    CONSTRAINT executions_check3 CHECK (((status = 'failed'::text) = (error IS NOT NULL))),
    CONSTRAINT executions_check4 CHECK ((completed_at >= started_at)),
    CONSTRAINT executions_check5 CHECK (((parent_execution_id IS NULL) = (parent_node_id IS NULL))),
    CONSTRAINT executions_check6 CHECK (((parent_execution_id IS NULL) = (parent_iteration IS NULL))),
    CONSTRAINT executions_check7 CHECK (((parent_execution_id IS NULL) = (parent_call IS NULL))),
    CONSTRAINT executions_check8 CHECK (((parent_execution_id IS NOT NULL) OR (NOT parent_waits))),
    CONSTRAINT executions_depth_check CHECK ((depth >= 0)),
    CONSTRAINT executions_max_concurrency_check CHECK ((max_concurrency >= 1)),
    CONSTRAINT executions_parent_call_check CHECK ((octet_length(parent_call) = 32)),
    CONSTRAINT executions_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'waiting_async'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT executions_timeout_ms_check CHECK ((timeout_ms > 0))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000');
ALTER TABLE ONLY public.executions FORCE ROW LEVEL SECURITY;
CREATE TABLE public.former_key_uses (
    api_key_id bigint NOT NULL,
    source_ip text NOT NULL,
    organisation_id bigint NOT NULL,
    last_used_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.former_key_uses FORCE ROW LEVEL SECURITY;
CREATE TABLE public.former_webhook_hashes (
    hash text NOT NULL,
    workflow_id bigint NOT NULL,
    organisation_id bigint NOT NULL,
    valid_until timestamp with time zone NOT NULL,
    CONSTRAINT former_webhook_hashes_hash_check CHECK ((hash ~ '^[A-Za-z0-9_-]{43}$'::text))
);
ALTER TABLE ONLY public.former_webhook_hashes FORCE ROW LEVEL SECURITY;
CREATE TABLE public.idempotency_records (
    organisation_id bigint NOT NULL,
    key_family_id uuid NOT NULL,
    route text NOT NULL,
    idempotency_key text NOT NULL,
    fingerprint bytea NOT NULL,
    status integer NOT NULL,
    location text,
    body text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT idempotency_records_fingerprint_check CHECK ((octet_length(fingerprint) = 32)),
    CONSTRAINT idempotency_records_status_check CHECK (((status >= 200) AND (status <= 299)))
);
ALTER TABLE ONLY public.idempotency_records FORCE ROW LEVEL SECURITY;
ALTER TABLE public.invitations ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.invitations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE public.members ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.members_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.organisation_settings (
    organisation_id bigint NOT NULL,
    time_zone text,
    retention_days_completed integer,
    retention_days_failed integer,
    retention_days_cancelled integer,
    requests_per_minute integer,
    allowed_hosts text[],
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT organisation_settings_allowed_hosts_check CHECK ((cardinality(allowed_hosts) <= 200)),
    CONSTRAINT organisation_settings_requests_per_minute_check CHECK ((requests_per_minute >= 1)),
    CONSTRAINT organisation_settings_retention_days_cancelled_check CHECK ((retention_days_cancelled >= 1)),
    CONSTRAINT organisation_settings_retention_days_completed_check CHECK ((retention_days_completed >= 1)),
    CONSTRAINT organisation_settings_retention_days_failed_check CHECK ((retention_days_failed >= 1)),
    CONSTRAINT organisation_settings_time_zone_check CHECK (((char_length(time_zone) >= 1) AND (char_length(time_zone) <= 100)))
);
ALTER TABLE ONLY public.organisation_settings FORCE ROW LEVEL SECURITY;
CREATE TABLE public.organisations (
    id bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT organisations_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
);
ALTER TABLE public.organisations ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.organisations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.pinned_outputs (
    workflow_id bigint NOT NULL,
    user_id bigint NOT NULL,
    organisation_id bigint NOT NULL,
    node_id text NOT NULL,
    output json NOT NULL,
    pinned_at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    CONSTRAINT pinned_outputs_node_id_check CHECK (((char_length(node_id) >= 1) AND (char_length(node_id) <= 1000))),
    CONSTRAINT pinned_outputs_output_check CHECK (((json_typeof(output) = 'object'::text) AND (octet_length((output)::text) <= 262144)))
);
ALTER TABLE ONLY public.pinned_outputs FORCE ROW LEVEL SECURITY;
CREATE TABLE public.recovery_codes (
    user_id bigint NOT NULL,
    code_hash bytea NOT NULL,
    CONSTRAINT recovery_codes_code_hash_check CHECK ((octet_length(code_hash) = 32))
);
CREATE TABLE public.sample_listeners (
    workflow_id bigint NOT NULL,
    user_id bigint NOT NULL,
    organisation_id bigint NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.sample_listeners FORCE ROW LEVEL SECURITY;
CREATE TABLE public.schedule_fires (
    workflow_id bigint NOT NULL,
    fire_time timestamp with time zone NOT NULL,
    organisation_id bigint NOT NULL,
    fire_number bigint NOT NULL,
    is_missed boolean NOT NULL,
    outcome text NOT NULL,
    reason text,
    execution_id bigint,
    is_open boolean NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT schedule_fires_check CHECK (((outcome = 'started'::text) = (execution_id IS NOT NULL))),
    CONSTRAINT schedule_fires_check1 CHECK (((outcome = 'skipped'::text) = (reason IS NOT NULL))),
    CONSTRAINT schedule_fires_check2 CHECK (((outcome = 'started'::text) OR (NOT is_open))),
    CONSTRAINT schedule_fires_fire_number_check CHECK ((fire_number >= 1)),
    CONSTRAINT schedule_fires_outcome_check CHECK ((outcome = ANY (ARRAY['started'::text, 'queued'::text, 'skipped'::text]))),
    CONSTRAINT schedule_fires_reason_check CHECK ((reason = ANY (ARRAY['overlap'::text, 'queue_full'::text, 'missed'::text, 'inactive'::text])))
);
ALTER TABLE ONLY public.schedule_fires FORCE ROW LEVEL SECURITY;
CREATE TABLE public.schedules (
    workflow_id bigint NOT NULL,
    organisation_id bigint NOT NULL,
    definition json NOT NULL,
    next_fire_time timestamp with time zone,
    next_fire_at timestamp with time zone,
    fire_count bigint DEFAULT 0 NOT NULL,
    CONSTRAINT schedules_check CHECK (((next_fire_time IS NULL) = (next_fire_at IS NULL))),
    CONSTRAINT schedules_fire_count_check CHECK ((fire_count >= 0))
);
ALTER TABLE ONLY public.schedules FORCE ROW LEVEL SECURITY;
CREATE TABLE public.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT schema_migrations_version_check CHECK ((version >= 1))
);
CREATE TABLE public.secret_keys (
    id text NOT NULL,
    state text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    retired_at timestamp with time zone,
    CONSTRAINT secret_keys_check CHECK (((state = 'retired'::text) = (retired_at IS NOT NULL))),
    CONSTRAINT secret_keys_id_check CHECK ((id ~ '^[0-9a-f]{16}$'::text)),
    CONSTRAINT secret_keys_state_check CHECK ((state = ANY (ARRAY['current'::text, 'retiring'::text, 'retired'::text])))
);
CREATE TABLE public.service_samples (
    minute timestamp with time zone NOT NULL,
    queued integer NOT NULL,
    running integer NOT NULL,
    waiting integer NOT NULL,
    workers integer NOT NULL,
    last_execution_id bigint NOT NULL,
    started bigint,
    failed bigint,
    seconds double precision,
    sampled_at timestamp with time zone NOT NULL,
    database_bytes bigint NOT NULL,
    CONSTRAINT service_samples_check CHECK ((((seconds IS NULL) = (started IS NULL)) AND ((seconds IS NULL) = (failed IS NULL)))),
    CONSTRAINT service_samples_failed_check CHECK ((failed >= 0)),
    CONSTRAINT service_samples_seconds_check CHECK ((seconds > (0)::double precision)),
    CONSTRAINT service_samples_started_check CHECK ((started >= 0))
);
CREATE TABLE public.service_secrets (
    name text NOT NULL,
    value bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT service_secrets_name_check CHECK ((name ~ '^[a-z_]+$'::text)),
    CONSTRAINT service_secrets_value_check CHECK ((octet_length(value) = 32))
);
CREATE TABLE public.sessions (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    source_ip text,
    user_agent text DEFAULT ''::text NOT NULL,
    CONSTRAINT sessions_token_hash_check CHECK ((octet_length(token_hash) = 32))
);
ALTER TABLE public.sessions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.sessions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.setup_links (
    token_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT setup_links_token_hash_check CHECK ((octet_length(token_hash) = 32))
);
CREATE SEQUENCE public.trial_versions
    AS integer
    START WITH -1
    INCREMENT BY -1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER TABLE public.users ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.users_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.webhook_deliveries (
    workflow_id bigint NOT NULL,
    event_hash bytea NOT NULL,
    organisation_id bigint NOT NULL,
    execution_id bigint NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT webhook_deliveries_event_hash_check CHECK ((octet_length(event_hash) = 32))
);
ALTER TABLE ONLY public.webhook_deliveries FORCE ROW LEVEL SECURITY;
CREATE TABLE public.workers (
    id uuid NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    heartbeat_at timestamp with time zone DEFAULT now() NOT NULL,
    lease_expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.workflow_drafts (
    workflow_id bigint NOT NULL,
    user_id bigint NOT NULL,
    organisation_id bigint NOT NULL,
    flow_data json NOT NULL,
    base_version integer NOT NULL,
    revision bigint NOT NULL,
    updated_at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    CONSTRAINT workflow_drafts_base_version_check CHECK ((base_version >= 1)),
    CONSTRAINT workflow_drafts_revision_check CHECK ((revision >= 1))
);
ALTER TABLE ONLY public.workflow_drafts FORCE ROW LEVEL SECURITY;
CREATE TABLE public.workflow_samples (
    workflow_id bigint NOT NULL,
    organisation_id bigint NOT NULL,
    revision integer NOT NULL,
    source text NOT NULL,
    data json NOT NULL,
    headers json,
    execution_id bigint,
    received_at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    CONSTRAINT workflow_samples_check CHECK (((source = 'webhook'::text) = (headers IS NOT NULL))),
    CONSTRAINT workflow_samples_check1 CHECK (((source = 'webhook'::text) = (execution_id IS NOT NULL))),
    CONSTRAINT workflow_samples_revision_check CHECK ((revision >= 1)),
    CONSTRAINT workflow_samples_source_check CHECK ((source = ANY (ARRAY['webhook'::text, 'manual'::text])))
);
ALTER TABLE ONLY public.workflow_samples FORCE ROW LEVEL SECURITY;
CREATE TABLE public.workflow_versions (
    workflow_id bigint NOT NULL,
    version integer NOT NULL,
    organisation_id bigint NOT NULL,
    flow_data json NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    api_key_id bigint,
    restored_from integer,
    user_id bigint,
    message text,
    pinned boolean DEFAULT false NOT NULL,
    CONSTRAINT workflow_versions_message_check CHECK (((char_length(message) >= 1) AND (char_length(message) <= 1000))),
    CONSTRAINT workflow_versions_trial_check CHECK (((version > 0) OR ((message IS NULL) AND (NOT pinned) AND (restored_from IS NULL)))),
    CONSTRAINT workflow_versions_version_check CHECK ((version <> 0))
);
ALTER TABLE ONLY public.workflow_versions FORCE ROW LEVEL SECURITY;
CREATE TABLE public.workflows (
    id bigint NOT NULL,
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
    CONSTRAINT workflows_description_check CHECK ((char_length(description) <= 10000)),
    CONSTRAINT workflows_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
    CONSTRAINT workflows_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'inactive'::text, 'archived'::text]))),
    CONSTRAINT workflows_tags_check CHECK ((cardinality(tags) <= 50)),
    CONSTRAINT workflows_version_check CHECK ((version >= 1)),
    CONSTRAINT workflows_webhook_hash_check CHECK ((webhook_hash ~ '^[A-Za-z0-9_-]{43}$'::text))
);
ALTER TABLE ONLY public.workflows FORCE ROW LEVEL SECURITY;
ALTER TABLE public.workflows ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.workflows_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.write_probes (
    written_at timestamp with time zone DEFAULT now() NOT NULL,
    filler text NOT NULL
);
ALTER TABLE ONLY public.write_probes ALTER COLUMN filler SET STORAGE PLAIN;
INSERT INTO public.api_keys OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'LByTwH4DtwT9', 'b7d2d052-4b06-43cd-995d-a6cdca454d22', 'First key', '{workflows:read,workflows:write,executions:execute,executions:read}', '\xf41c9e27e3b683e3c14d17ca9e3fb899e61b25f73ef4f8f03227ef45786ff912', 'IQhl', NULL, '2026-11-23 14:03:32.045636+00', NULL, NULL, NULL, NULL, 0, '2026-11-23 14:03:33.56513+00', '127.0.0.1', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES
	(1, 1, '2026-11-23 14:03:32.045636+00', 'organisation.created', 'service', NULL, NULL, NULL, NULL, '{"name":"Main"}', NULL, NULL, 1, NULL),
	(2, 1, '2026-11-23 14:03:32.045636+00', 'api_key.issued', 'service', 1, NULL, NULL, NULL, '{"key_id":"LByTwH4DtwT9","name":"First key","scopes":["workflows:read","workflows:write","executions:execute","executions:read"],"expires_at":null}', NULL, NULL, 1, NULL),
	(3, 1, '2026-11-23 14:03:32.879117+00', 'member.added', 'user', NULL, 1, '127.0.0.1', 'req_ec0454051aae44aa88b62f04e1419f3d', '{"email":"ada@example.com","role":"system_admin"}', 1, NULL, 1, NULL),
	(4, 1, '2026-11-23 14:03:32.888297+00', 'user.signed_in', 'user', NULL, 1, '127.0.0.1', 'req_ec0454051aae44aa88b62f04e1419f3d', '{"email":"ada@example.com","method":"set_up"}', 1, NULL, 1, NULL),
	(5, 1, '2026-11-23 14:03:33.52849+00', 'credential.created', 'operator', NULL, NULL, NULL, NULL, '{"credential_id":1,"name":"CRM","type":"bearer","hosts":["crm.example.com"]}', NULL, NULL, 1, NULL),
	(6, 1, '2026-11-23 14:03:33.569063+00', 'workflow.created', 'api_key', 1, NULL, '127.0.0.1', 'req_14ec321d96b6444298cfabad16dad1d6', '{"workflow_id":2,"name":"greet"}', NULL, NULL, 1, NULL),
	(7, 1, '2026-11-23 14:03:33.587763+00', 'workflow.changed', 'api_key', 1, NULL, '127.0.0.1', 'req_9b0b5bff918d42f3a04ae3f763204483', '{"workflow_id":2,"changed":[],"from_status":"draft","status":"active"}', NULL, NULL, 1, NULL),
	(8, 1, '2026-11-23 14:03:33.674313+00', 'workflow.created', 'api_key', 1, NULL, '127.0.0.1', 'req_b854db3b70494720be21cfade7664314', '{"workflow_id":3,"name":"fail"}', NULL, NULL, 1, NULL),
	(9, 1, '2026-11-23 14:03:33.687734+00', 'workflow.changed', 'api_key', 1, NULL, '127.0.0.1', 'req_b68d3f38617b4e6dbc5d1870af551986', '{"workflow_id":3,"changed":[],"from_status":"draft","status":"active"}', NULL, NULL, 1, NULL),
	(10, 1, '2026-11-23 14:03:33.708621+00', 'workflow.created', 'api_key', 1, NULL, '127.0.0.1', 'req_153fa061cf594187aeeaf3c8bb4186cb', '{"workflow_id":4,"name":"hook"}', NULL, NULL, 1, NULL),
	(11, 1, '2026-11-23 14:03:33.718279+00', 'workflow.changed', 'api_key', 1, NULL, '127.0.0.1', 'req_71275da3ffac4e71a69987e2c1ea4007', '{"workflow_id":4,"changed":[],"from_status":"draft","status":"active"}', NULL, NULL, 1, NULL),
	(12, 1, '2026-11-23 14:03:33.732769+00', 'workflow.created', 'api_key', 1, NULL, '127.0.0.1', 'req_678e1cb84a09496bbfa86486d4aa38a2', '{"workflow_id":5,"name":"delay"}', NULL, NULL, 1, NULL),
	(13, 1, '2026-11-23 14:03:33.746604+00', 'workflow.changed', 'api_key', 1, NULL, '127.0.0.1', 'req_97b918c828024a358deb864800b0ad2f', '{"workflow_id":5,"changed":[],"from_status":"draft","status":"active"}', NULL, NULL, 1, NULL),
	(14, 1, '2026-11-23 14:03:34.768904+00', 'workflow.created', 'api_key', 1, NULL, '127.0.0.1', 'req_a4fb4802d53145ebae57bcf2f35d87ae', '{"workflow_id":6,"name":"callback"}', NULL, NULL, 1, NULL),
	(15, 1, '2026-11-23 14:03:34.777974+00', 'workflow.changed', 'api_key', 1, NULL, '127.0.0.1', 'req_f124de42bf25471287ea6d4b04531204', '{"workflow_id":6,"changed":[],"from_status":"draft","status":"active"}', NULL, NULL, 1, NULL),
	(16, 1, '2026-11-23 14:03:35.809294+00', 'workflow.created', 'api_key', 1, NULL, '127.0.0.1', 'req_030b4d30c1894bc0997fe9447bf72762', '{"workflow_id":7,"name":"approval"}', NULL, NULL, 1, NULL),
	(17, 1, '2026-11-23 14:03:35.826267+00', 'workflow.changed', 'api_key', 1, NULL, '127.0.0.1', 'req_7ae283095d15455ab2e1c20f7a0b3687', '{"workflow_id":7,"changed":[],"from_status":"draft","status":"active"}', NULL, NULL, 1, NULL),
	(18, 1, '2026-11-23 14:03:36.865403+00', 'workflow.created', 'api_key', 1, NULL, '127.0.0.1', 'req_b13ab7204cb4497b97cfd73c21cfa4c9', '{"workflow_id":8,"name":"parent"}', NULL, NULL, 1, NULL),
	(19, 1, '2026-11-23 14:03:36.871685+00', 'workflow.changed', 'api_key', 1, NULL, '127.0.0.1', 'req_512366f0a04843b4aefb520b0dbeddc6', '{"workflow_id":8,"changed":[],"from_status":"draft","status":"active"}', NULL, NULL, 1, NULL),
	(20, 1, '2026-11-23 14:03:37.907381+00', 'workflow.created', 'api_key', 1, NULL, '127.0.0.1', 'req_ce2f606cdf4549da931fc2603d18b3cf', '{"workflow_id":9,"name":"loop"}', NULL, NULL, 1, NULL),
	(21, 1, '2026-11-23 14:03:37.915454+00', 'workflow.changed', 'api_key', 1, NULL, '127.0.0.1', 'req_74114d6ee2ee4da59c69b376ea2cdc99', '{"workflow_id":9,"changed":[],"from_status":"draft","status":"active"}', NULL, NULL, 1, NULL),
	(22, 1, '2026-11-23 14:03:37.956173+00', 'workflow.created', 'api_key', 1, NULL, '127.0.0.1', 'req_cfc083c434ef4b999f8b07c858fa70a8', '{"workflow_id":10,"name":"schedule"}', NULL, NULL, 1, NULL),
	(23, 1, '2026-11-23 14:03:37.978196+00', 'workflow.changed', 'api_key', 1, NULL, '127.0.0.1', 'req_92c39966de0d4b08a3b2f7a73660a06f', '{"workflow_id":10,"changed":[],"from_status":"draft","status":"active"}', NULL, NULL, 1, NULL),
	(24, 1, '2026-11-23 14:03:38.007677+00', 'workflow.created', 'api_key', 1, NULL, '127.0.0.1', 'req_265f5e346bd64cc2adc5f67e33448516', '{"workflow_id":11,"name":"running"}', NULL, NULL, 1, NULL),
	(25, 1, '2026-11-23 14:03:38.020331+00', 'workflow.changed', 'api_key', 1, NULL, '127.0.0.1', 'req_5c480847a3ad4173a2586312e315bb13', '{"workflow_id":11,"changed":[],"from_status":"draft","status":"active"}', NULL, NULL, 1, NULL);
INSERT INTO public.callbacks OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 6, 'wait', '{}', 'callback', '\x7510c26214b963acf45880ae077ee2882914950743a910b9364552c83aaa2948', '2026-11-23 14:03:34.799+00', '9999-12-31 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(2, 1, 7, 'wait', '{}', 'approval', '\xd61addc0d38db2f3e8a5660fafa5c708b70e95ea41e7aaa6fc471482ca509059', '2026-11-23 14:03:35.853+00', '9999-12-31 00:00:00+00', NULL, 'Ship it?', '', '[{"id":"approve","label":"Approve"},{"id":"reject","label":"Reject"}]', NULL, NULL, NULL);
INSERT INTO public.credentials OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'CRM', 'bearer', '{crm.example.com}', '{}', '0c55d0e356de01ec', '\x010c55d0e356de01ecc4281bc5f3bb8dc41289725138ef117302f7ee8f6a6554794c1b0a4935f32b95f1e15b84f19f4a1ea1751f2580196a547c38654ef423b36f9f7a404080494c36863dd47ec2a1a1430681', '2026-11-23 14:03:33.52849+00', '2026-11-23 14:03:33.52849+00', NULL, NULL, '{token}');
INSERT INTO public.execution_checkpoints VALUES
	(1, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442613611,"consumedAiTokens":0,"status":"success","output":{"data":{"name":"Ada","number":12345}},"handles":["out"],"completedAtMs":1795442613611},{"nodeId":"greet","attempts":1,"startedAtMs":1795442613611,"consumedAiTokens":0,"status":"success","output":{"text":"Hello Ada","number":12345},"handles":["out"],"completedAtMs":1795442613614}]', '2026-11-23 14:03:33.61662+00'),
	(2, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442613637,"consumedAiTokens":0,"status":"success","output":{"data":{"name":"太郎","number":12345}},"handles":["out"],"completedAtMs":1795442613637},{"nodeId":"greet","attempts":1,"startedAtMs":1795442613637,"consumedAiTokens":0,"status":"success","output":{"text":"Hello 太郎","number":12345},"handles":["out"],"completedAtMs":1795442613639}]', '2026-11-23 14:03:33.641057+00'),
	(3, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442613659,"consumedAiTokens":0,"status":"success","output":{"data":{"name":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","number":12345}},"handles":["out"],"completedAtMs":1795442613659},{"nodeId":"greet","attempts":1,"startedAtMs":1795442613659,"consumedAiTokens":0,"status":"success","output":{"text":"Hello xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","number":12345},"handles":["out"],"completedAtMs":1795442613659}]', '2026-11-23 14:03:33.661029+00'),
	(4, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442613697,"consumedAiTokens":0,"status":"success","output":{"data":{"order":7}},"handles":["out"],"completedAtMs":1795442613697},{"nodeId":"stop","attempts":1,"startedAtMs":1795442613697,"consumedAiTokens":0,"failures":1,"status":"failed","output":{},"error":{"code":"workflow_failed","message":"No such order"},"handles":[],"completedAtMs":1795442613697}]', '2026-11-23 14:03:33.699149+00'),
	(5, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442613755,"consumedAiTokens":0,"status":"success","output":{"data":{"n":1}},"handles":["out"],"completedAtMs":1795442613755},{"nodeId":"delay","attempts":1,"startedAtMs":1795442613755,"consumedAiTokens":0,"status":"running"}]', '2026-11-23 14:03:33.758221+00'),
	(5, 2, 1, '[{"nodeId":"delay","attempts":1,"startedAtMs":1795442613755,"consumedAiTokens":0,"status":"waiting","reason":"delay","wakeAtMs":1795442703759,"output":{"waited_until":"2026-11-23T14:05:03.759Z"}}]', '2026-11-23 14:03:33.760785+00'),
	(6, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442614792,"consumedAiTokens":0,"status":"success","output":{"data":{"n":2}},"handles":["out"],"completedAtMs":1795442614792},{"nodeId":"wait","attempts":1,"startedAtMs":1795442614792,"consumedAiTokens":0,"status":"running"}]', '2026-11-23 14:03:34.794658+00'),
	(6, 2, 1, '[{"nodeId":"wait","attempts":1,"startedAtMs":1795442614792,"consumedAiTokens":0,"status":"waiting","reason":"signal","wakeAtMs":253402214400000,"output":{"status":200,"body":"{}","expires_at":"2026-11-24T14:03:34.795Z"}}]', '2026-11-23 14:03:34.822319+00'),
	(7, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442615844,"consumedAiTokens":0,"status":"success","output":{"data":{"n":3}},"handles":["out"],"completedAtMs":1795442615844},{"nodeId":"wait","attempts":1,"startedAtMs":1795442615844,"consumedAiTokens":0,"status":"running"}]', '2026-11-23 14:03:35.846724+00'),
	(7, 2, 1, '[{"nodeId":"wait","attempts":1,"startedAtMs":1795442615844,"consumedAiTokens":0,"status":"waiting","reason":"signal","wakeAtMs":253402214400000,"output":{"title":"Ship it?","text":"","choices":[{"id":"approve","label":"Approve"},{"id":"reject","label":"Reject"}],"expires_at":"2026-11-30T14:03:35.849Z"}}]', '2026-11-23 14:03:35.860703+00'),
	(8, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442616880,"consumedAiTokens":0,"status":"success","output":{"data":{"n":4}},"handles":["out"],"completedAtMs":1795442616880},{"nodeId":"call","attempts":1,"startedAtMs":1795442616880,"consumedAiTokens":0,"status":"running"}]', '2026-11-23 14:03:36.880906+00'),
	(8, 2, 1, '[{"nodeId":"call","attempts":1,"startedAtMs":1795442616880,"consumedAiTokens":0,"status":"waiting","reason":"signal","wakeAtMs":null,"output":{"execution_id":9,"workflow_id":5,"workflow_version":1}}]', '2026-11-23 14:03:36.893655+00'),
	(9, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442616897,"consumedAiTokens":0,"status":"success","output":{"data":{"n":4}},"handles":["out"],"completedAtMs":1795442616897},{"nodeId":"delay","attempts":1,"startedAtMs":1795442616897,"consumedAiTokens":0,"status":"running"}]', '2026-11-23 14:03:36.897332+00'),
	(9, 2, 1, '[{"nodeId":"delay","attempts":1,"startedAtMs":1795442616897,"consumedAiTokens":0,"status":"waiting","reason":"delay","wakeAtMs":1795442706898,"output":{"waited_until":"2026-11-23T14:05:06.898Z"}}]', '2026-11-23 14:03:36.898854+00'),
	(10, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442617935,"consumedAiTokens":0,"status":"success","output":{"data":{"items":[1,2,3]}},"handles":["out"],"completedAtMs":1795442617935},{"nodeId":"each","attempts":1,"startedAtMs":1795442617935,"consumedAiTokens":0,"status":"success","output":{"items":[{"item":1},{"item":2},{"item":3}],"errors":[]},"handles":["out"],"completedAtMs":1795442617938},{"nodeId":"double","attempts":1,"startedAtMs":1795442617938,"consumedAiTokens":0,"status":"success","output":{"item":3},"handles":["out"],"completedAtMs":1795442617938,"iterations":3}]', '2026-11-23 14:03:37.939222+00'),
	(11, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442618046,"consumedAiTokens":0,"status":"success","output":{"data":{"n":5}},"handles":["out"],"completedAtMs":1795442618046},{"nodeId":"before","attempts":1,"startedAtMs":1795442618046,"consumedAiTokens":0,"status":"success","output":{"a":1},"handles":["out"],"completedAtMs":1795442618047},{"nodeId":"delay","attempts":1,"startedAtMs":1795442618047,"consumedAiTokens":0,"status":"running"}]', '2026-11-23 14:03:38.047588+00'),
	(11, 2, 1, '[{"nodeId":"delay","attempts":1,"startedAtMs":1795442618047,"consumedAiTokens":0,"status":"waiting","reason":"delay","wakeAtMs":1795442673048,"output":{"waited_until":"2026-11-23T14:04:33.048Z"}}]', '2026-11-23 14:03:38.049808+00');
INSERT INTO public.executions VALUES
	(1, 1, 2, 1, 'completed', 'api', 'greet #1', false, '{"name":"Ada","number":12345}', '2026-11-23 14:03:33.6+00', '2026-11-23 14:03:33.6+00', '2026-11-23 14:03:33.619+00', NULL, 0, NULL, NULL, NULL, 1, 1, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1'),
	(2, 1, 2, 1, 'completed', 'api', 'greet #2', false, '{"name":"太郎","number":12345}', '2026-11-23 14:03:33.633+00', '2026-11-23 14:03:33.633+00', '2026-11-23 14:03:33.641+00', NULL, 0, NULL, NULL, NULL, 1, 1, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1'),
	(3, 1, 2, 1, 'completed', 'api', 'greet #3', false, '{"name":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","number":12345}', '2026-11-23 14:03:33.656+00', '2026-11-23 14:03:33.656+00', '2026-11-23 14:03:33.661+00', NULL, 0, NULL, NULL, NULL, 1, 1, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1'),
	(4, 1, 3, 1, 'failed', 'api', 'fail #4', false, '{"order":7}', '2026-11-23 14:03:33.694+00', '2026-11-23 14:03:33.694+00', '2026-11-23 14:03:33.7+00', NULL, 0, '{"code":"workflow_failed","message":"No such order","node_id":"stop"}', NULL, NULL, 1, 1, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1'),
	(5, 1, 5, 1, 'waiting_async', 'api', 'delay #5', false, '{"n":1}', '2026-11-23 14:03:33.752+00', '2026-11-23 14:03:33.752+00', NULL, NULL, 0, NULL, '2026-11-23 14:05:03.759+00', NULL, 1, 2, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1'),
	(6, 1, 6, 1, 'waiting_async', 'api', 'callback #6', false, '{"n":2}', '2026-11-23 14:03:34.788+00', '2026-11-23 14:03:34.788+00', NULL, NULL, 0, NULL, '9999-12-31 00:00:00+00', NULL, 1, 2, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1'),
	(7, 1, 7, 1, 'waiting_async', 'api', 'approval #7', false, '{"n":3}', '2026-11-23 14:03:35.839+00', '2026-11-23 14:03:35.839+00', NULL, NULL, 0, NULL, '9999-12-31 00:00:00+00', NULL, 1, 2, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1'),
	(8, 1, 8, 1, 'waiting_async', 'api', 'parent #8', false, '{"n":4}', '2026-11-23 14:03:36.877+00', '2026-11-23 14:03:36.877+00', NULL, NULL, 0, NULL, 'infinity', NULL, 1, 2, 0, NULL, 0, NULL, NULL, NULL, NULL, false, true, 0, NULL, NULL, 1, '127.0.0.1'),
	(9, 1, 5, 1, 'waiting_async', 'flow', 'delay #9', false, '{"n":4}', '2026-11-23 14:03:36.885+00', '2026-11-23 14:03:36.892+00', NULL, NULL, 0, NULL, '2026-11-23 14:05:06.898+00', NULL, 1, 2, 0, NULL, 0, 8, 'call', '{}', '\xdeaeb74a255b8e84c4ae298f8fe643d96e2bef867a5ad517f56d9d1561e4bf64', true, false, 1, NULL, NULL, NULL, NULL),
	(10, 1, 9, 1, 'completed', 'api', 'loop #10', false, '{"items":[1,2,3]}', '2026-11-23 14:03:37.932+00', '2026-11-23 14:03:37.932+00', '2026-11-23 14:03:37.939+00', NULL, 0, NULL, NULL, NULL, 1, 1, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1'),
	(11, 1, 11, 1, 'running', 'api', 'running #11', false, '{"n":5}', '2026-11-23 14:03:38.039+00', '2026-11-23 14:03:38.039+00', NULL, NULL, 0, NULL, NULL, '70256729-6907-4d05-b547-633e15c39d25', 1, 2, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1'),
	(12, 1, 2, 1, 'queued', 'api', 'greet #12', false, '{"name":"queued 0","number":0}', '2026-11-23 14:03:43.038+00', NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1'),
	(13, 1, 2, 1, 'queued', 'api', 'greet #13', false, '{"name":"queued 1","number":1}', '2026-11-23 14:03:43.073+00', NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1'),
	(14, 1, 2, 1, 'queued', 'api', 'greet #14', false, '{"name":"queued 2","number":2}', '2026-11-23 14:03:43.081+00', NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1'),
	(15, 1, 2, 1, 'queued', 'api', 'greet #15', false, '{"name":"queued 3","number":3}', '2026-11-23 14:03:43.088+00', NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1'),
	(16, 1, 2, 1, 'queued', 'api', 'greet #16', false, '{"name":"queued 4","number":4}', '2026-11-23 14:03:43.103+00', NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, false, false, 0, NULL, NULL, 1, '127.0.0.1');
INSERT INTO public.members OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'ada@example.com', 'system_admin', '2026-11-23 14:03:32.879117+00', NULL);
INSERT INTO public.organisations OVERRIDING SYSTEM VALUE VALUES
	(1, 'Main', '2026-11-23 14:03:32.045636+00');
INSERT INTO public.schedules VALUES
	(10, 1, '{"jitter_s":0,"overlap":"allow","missed":"skip","input":{},"schedule":{"type":"every","every":1,"unit":"days"},"timezone":"UTC"}', '2026-11-24 00:00:00+00', '2026-11-24 00:00:00+00', 0);
INSERT INTO public.schema_migrations VALUES
	(1, 'initial', 'd2dbac90d163264bf767b0b2d097b4537f7205a7b7bc568e945ddcd09848643d', '2026-11-23 14:03:31.932046+00'),
	(2, 'cursor_secret', 'f204c456091a0a638206bea38614b66c1530dce7283b85539eec5576e8496d99', '2026-11-23 14:03:31.949227+00'),
	(3, 'signals', 'feaca24ecc72bac47dc7e94ac03243953ceff287f03f99f053a58cff305e12fd', '2026-11-23 14:03:31.951429+00'),
	(4, 'schedules', '3888c62a36359c5d885c71feb2776c51866803d33125ab5cce962b8c2d2e5b3a', '2026-11-23 14:03:31.960405+00'),
	(5, 'credentials', '6055dae43f1cc25386d6f439ccd98c3bef7cf99e94903ca72ab633c901c6193e', '2026-11-23 14:03:31.965186+00'),
	(6, 'data_entries', 'a62741589a4141f74c2c59d1ddde0c652a2071ccc4a43111b22107e516e110e2', '2026-11-23 14:03:31.969995+00'),
	(7, 'webhook_deliveries', '014b6ef8ee4cb7e78066c96ae873e2438199019b928208fcfcc638790b3633f7', '2026-11-23 14:03:31.974194+00'),
	(8, 'api_key_state', 'cd14c62cc2c08b3cca15cd46ea8f5073414b9eb8105ebfb63d3873d24703f094', '2026-11-23 14:03:31.976296+00'),
	(9, 'accounts', '13a49f2d5518823e9050b395a743eb7b06fcf437f8608e86517064e92dbffa5e', '2026-11-23 14:03:31.977547+00'),
	(10, 'editor', '64876cf0108145176451923ebea341560908a34a1065fef6e36d6df094b38745', '2026-11-23 14:03:31.985687+00'),
	(11, 'executions', 'e6b77c07902b0df792bab1c05af955cbbae2e3579efe7817eaa91c33cad7a807', '2026-11-23 14:03:31.99323+00'),
	(12, 'administration', '20ba93dcbe4584d23fd5e6b83f854cce5bfdcf03297359646a47d0d2bf95b0cf', '2026-11-23 14:03:31.994403+00'),
	(13, 'pins', 'be10dbb5f670746e887e0439fcad623064ed735dbd76a521bdd45dcd813d4792', '2026-11-23 14:03:31.99851+00'),
	(14, 'executions_lists', '479a9915c68339fd40e4323d5cce6746ea035dacf27cdd2e3e02679275e281d4', '2026-11-23 14:03:32.000893+00'),
	(15, 'removed_accounts', '7cf11680b3a2c9e98ffe27e71661b01959c02fb524db008e69ee79ec2b7bf98d', '2026-11-23 14:03:32.00253+00'),
	(16, 'language', 'b220684e83cf3a1b3128efa2528479fc71532c4cc93668e488575f5acbc33a0b', '2026-11-23 14:03:32.004967+00'),
	(17, 'former_key_uses', '92df6fe6891a6c3e147744db901858451da9a69b200562b4d8c7bf59ce32fd92', '2026-11-23 14:03:32.006221+00'),
	(18, 'key_holders', 'd358f04a25a4f7f6180237f08a9dc3d3c1ccebf028954506d460d408d280caf1', '2026-11-23 14:03:32.008415+00'),
	(19, 'address_proofs', '78a343ebda7716defd8ab332f44f08830229284b24ffe5df91b42db23d713909', '2026-11-23 14:03:32.01272+00'),
	(20, 'visible_names', '0c268a4df48fa02b8d6be03875c61d02df05533fe4fbaee2ef9df84c995d746a', '2026-11-23 14:03:32.015013+00'),
	(21, 'collapsed_audit_entries', 'c2df72e2fa50e5df54f190375f0a8f0d68767c6bed317e96d4d9ec3ce9e54926', '2026-11-23 14:03:32.017289+00'),
	(22, 'who_started_executions', '14313b9b31194b70f425fadf49ad011e8fa61309e38b5fd0a97c6b1186bf67f9', '2026-11-23 14:03:32.019179+00'),
	(23, 'child_ai_tokens', '463055633e600e162ec453597a5c529a3772adbab69beaabfe8eacbd03c7c665', '2026-11-23 14:03:32.020248+00'),
	(24, 'lists_and_room', '1469cd3ffdb70200e17377c8f19ebb3f4fa1a39ea7cce2d281314a07485ac87e', '2026-11-23 14:03:32.023412+00'),
	(25, 'stored_secrets', '295473282d7053223fe0f0a06585cfbac6fdfe7971c9c7fff6bf31e06cdb7631', '2026-11-23 14:03:32.026039+00');
INSERT INTO public.secret_keys VALUES
	('0c55d0e356de01ec', 'current', '2026-11-23 14:03:32.040867+00', NULL);
INSERT INTO public.service_samples VALUES
	('2026-11-23 14:03:00+00', 0, 0, 0, 1, 0, NULL, NULL, NULL, '2026-11-23 14:03:32.07024+00', 10231143);
INSERT INTO public.service_secrets VALUES
	('cursor', '\x623cbf1e257198b5e4c350b88d03b073978b4ce6bc4d2a092d0912f289f995d0', '2026-11-23 14:03:31.949227+00'),
	('callback', '\x7cf0cb0fbbe27b062e4b2e31457f6423215470a0a1723c1f6f77c3938d4d077d', '2026-11-23 14:03:31.951429+00'),
	('device', '\x3098fd864833d14f5db5d9967e3f2b66a6c971f92b82ea9c60625a1d0a95f698', '2026-11-23 14:03:31.977547+00');
INSERT INTO public.sessions OVERRIDING SYSTEM VALUE VALUES
	(1, 1, '\x7cbd0bb0672e4b53c0c7e5fb64a13b3660899a3af6413ac0c83db90afb7f6550', '2026-11-23 14:03:32.888297+00', '2026-11-23 14:03:32.888297+00', '2026-12-23 14:03:32.888297+00', '127.0.0.1', 'node');
INSERT INTO public.users OVERRIDING SYSTEM VALUE VALUES
	(1, 'ada@example.com', 'Ada', '2026-11-23 14:03:32.879117+00', '$argon2id$v=19$m=19456,t=2,p=1$JJUHAh67zozmH8e0Lw4ZLQ$zlIVHnwy4K9p57aeKSM2CgXIgec4FHjI4IygkAY/fYw', NULL, NULL, NULL, NULL, '2026-11-23 14:03:32.879117+00', NULL, NULL);
INSERT INTO public.workers VALUES
	('70256729-6907-4d05-b547-633e15c39d25', 'host', 29962, '2026-11-23 14:03:32.066757+00', '2026-11-23 14:03:40.097779+00', '2026-11-23 14:03:44.097779+00');
INSERT INTO public.workflow_versions VALUES
	(1, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","position":{"x":0,"y":120},"data":{"label":"Start"}},{"id":"has_name","type":"core.if","position":{"x":220,"y":120},"data":{"label":"Is there a name?","config":{"conditions":[{"left":"{{trigger.data.name}}","operator":"is_not_empty"}]}}},{"id":"greet_one","type":"core.set","position":{"x":460,"y":20},"data":{"label":"Greet by name","config":{"values":{"greeting":"Hello, {{trigger.data.name}}!"}}}},{"id":"greet_all","type":"core.set","position":{"x":460,"y":220},"data":{"label":"Greet everybody","config":{"values":{"greeting":"Hello, everybody!"}}}},{"id":"answer","type":"core.merge","position":{"x":700,"y":120},"data":{"label":"Answer","config":{"mode":"first"}}}],"edges":[{"id":"e1","source":"start","target":"has_name"},{"id":"e2","source":"has_name","sourceHandle":"true","target":"greet_one"},{"id":"e3","source":"has_name","sourceHandle":"false","target":"greet_all"},{"id":"e4","source":"greet_one","target":"answer"},{"id":"e5","source":"greet_all","target":"answer"}],"settings":{"input_schema":{"type":"object","properties":{"name":{"type":"string","title":"Name","description":"Whom to greet; everybody when it is empty."}}}}}', '2026-11-23 14:03:32.045+00', 1, NULL, NULL, NULL, false),
	(2, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"greet","type":"core.set","data":{"config":{"values":{"text":"Hello {{trigger.data.name}}","number":"{{trigger.data.number}}"}}}}],"edges":[{"source":"start","target":"greet"}]}', '2026-11-23 14:03:33.569+00', 1, NULL, NULL, NULL, false),
	(3, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"stop","type":"core.fail","data":{"config":{"message":"No such order"}}}],"edges":[{"source":"start","target":"stop"}]}', '2026-11-23 14:03:33.674+00', 1, NULL, NULL, NULL, false),
	(4, 1, 1, '{"nodes":[{"id":"start","type":"trigger.webhook","data":{"config":{}}},{"id":"keep","type":"core.set","data":{"config":{"values":{"body":"{{trigger.data.body}}"}}}}],"edges":[{"source":"start","target":"keep"}]}', '2026-11-23 14:03:33.708+00', 1, NULL, NULL, NULL, false),
	(5, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"delay","type":"core.delay","data":{"config":{"duration_ms":90000}}},{"id":"after","type":"core.set","data":{"config":{"values":{"done":true}}}}],"edges":[{"source":"start","target":"delay"},{"source":"delay","target":"after"}]}', '2026-11-23 14:03:33.732+00', 1, NULL, NULL, NULL, false),
	(6, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"wait","type":"wait.callback","data":{"config":{"request":{"url":"http://127.0.0.1:37245/","body":{"callback_url":"{{args.callback_url}}"}}}}},{"id":"after","type":"core.set","data":{"config":{"values":{"got":"{{nodes.wait.output.body}}"}}}}],"edges":[{"source":"start","target":"wait"},{"source":"wait","target":"after"}]}', '2026-11-23 14:03:34.768+00', 1, NULL, NULL, NULL, false),
	(7, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"wait","type":"wait.approval","data":{"config":{"title":"Ship it?"}}}],"edges":[{"source":"start","target":"wait"}]}', '2026-11-23 14:03:35.809+00', 1, NULL, NULL, NULL, false),
	(8, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"call","type":"flow.call","data":{"config":{"workflow_id":5,"input":{"n":4}}}}],"edges":[{"source":"start","target":"call"}]}', '2026-11-23 14:03:36.865+00', 1, NULL, NULL, NULL, false),
	(9, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"each","type":"core.for_each","data":{"config":{"items":"{{trigger.data.items}}"}}},{"id":"double","type":"core.set","data":{"config":{"values":{"item":"{{item}}"}}},"parentId":"each"}],"edges":[{"source":"start","target":"each"}]}', '2026-11-23 14:03:37.907+00', 1, NULL, NULL, NULL, false),
	(10, 1, 1, '{"nodes":[{"id":"tick","type":"trigger.schedule","data":{"config":{"schedule":{"type":"every","every":1,"unit":"days"},"timezone":"UTC","missed":"skip"}}},{"id":"note","type":"core.set","data":{"config":{"values":{"ran":true}}}}],"edges":[{"source":"tick","target":"note"}]}', '2026-11-23 14:03:37.956+00', 1, NULL, NULL, NULL, false),
	(11, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"before","type":"core.set","data":{"config":{"values":{"a":1}}}},{"id":"delay","type":"core.delay","data":{"config":{"duration_ms":55000}}},{"id":"after","type":"core.set","data":{"config":{"values":{"done":true}}}}],"edges":[{"source":"start","target":"before"},{"source":"before","target":"delay"},{"source":"delay","target":"after"}]}', '2026-11-23 14:03:38.007+00', 1, NULL, NULL, NULL, false);
INSERT INTO public.workflows OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'Greeting', 'A first example: greets by name when the input has one, and everybody otherwise.', 'active', '{sample}', false, 1, 'trigger.manual', 'RIPXjyA-q-h_SSZqdjLiOS91eFKL9GwdnQrxmrtdoPM', '2026-11-23 14:03:32.045+00', '2026-11-23 14:03:32.045+00'),
	(2, 1, 'greet', '', 'active', '{}', false, 1, 'trigger.manual', 'wrozlNSk6wTD7d7vRiVsCNa5SRXAo9GUI3zNMnfIF_Q', '2026-11-23 14:03:33.569+00', '2026-11-23 14:03:33.587+00'),
	(3, 1, 'fail', '', 'active', '{}', false, 1, 'trigger.manual', 'LYdhMAyUpDWrdlxQQybBAz-yV3G_Wc7rEGevt2jgPnA', '2026-11-23 14:03:33.674+00', '2026-11-23 14:03:33.687+00'),
	(4, 1, 'hook', '', 'active', '{}', false, 1, 'trigger.webhook', 'knkCow6YB76oawC7CQZNRPCu19VwsfdKKxOlptu5KE0', '2026-11-23 14:03:33.708+00', '2026-11-23 14:03:33.718+00'),
	(5, 1, 'delay', '', 'active', '{}', false, 1, 'trigger.manual', 'LZaio23G0gKpKRH6hsMw4yRJoOoD-HO7Yb3uvfUDMBk', '2026-11-23 14:03:33.732+00', '2026-11-23 14:03:33.746+00'),
	(6, 1, 'callback', '', 'active', '{}', false, 1, 'trigger.manual', '9INOK5PUWtJrOsfSL6_MTfE_nEvQizUTl8z2O9x95VM', '2026-11-23 14:03:34.768+00', '2026-11-23 14:03:34.777+00'),
	(7, 1, 'approval', '', 'active', '{}', false, 1, 'trigger.manual', 'OFGjKQ2YYK8o-sl9KPIZfzxXKCbmWAMossERRpOZkXo', '2026-11-23 14:03:35.809+00', '2026-11-23 14:03:35.826+00'),
	(8, 1, 'parent', '', 'active', '{}', false, 1, 'trigger.manual', 'RgbqSgtL3RCgnQBTUeqGFsqeJqFqoWDaNn7yg6-jprQ', '2026-11-23 14:03:36.865+00', '2026-11-23 14:03:36.871+00'),
	(9, 1, 'loop', '', 'active', '{}', false, 1, 'trigger.manual', 'AGNYjzs_hs6Wauh0RMmjXm7nGpy4WvA67upLUnTiY7k', '2026-11-23 14:03:37.907+00', '2026-11-23 14:03:37.915+00'),
	(10, 1, 'schedule', '', 'active', '{}', false, 1, 'trigger.schedule', 'Eg99U3PrHmNvElh3RTGRX6z2iLg2gip3MLlDebJFn-4', '2026-11-23 14:03:37.956+00', '2026-11-23 14:03:37.978+00'),
	(11, 1, 'running', '', 'active', '{}', false, 1, 'trigger.manual', 'Oal15ATWcpdHYIhNcinHiLYvBPOBR0K8ny-pJ9pHBUs', '2026-11-23 14:03:38.007+00', '2026-11-23 14:03:38.02+00');
SELECT pg_catalog.setval('public.api_keys_id_seq', 1, true);
SELECT pg_catalog.setval('public.audit_log_id_seq', 25, true);
SELECT pg_catalog.setval('public.callbacks_id_seq', 2, true);
SELECT pg_catalog.setval('public.credentials_id_seq', 1, true);
SELECT pg_catalog.setval('public.draft_revisions', 1, false);
SELECT pg_catalog.setval('public.execution_ids', 16, true);
SELECT pg_catalog.setval('public.invitations_id_seq', 1, false);
SELECT pg_catalog.setval('public.members_id_seq', 1, true);
SELECT pg_catalog.setval('public.organisations_id_seq', 1, true);
SELECT pg_catalog.setval('public.sessions_id_seq', 1, true);
SELECT pg_catalog.setval('public.trial_versions', -1, false);
SELECT pg_catalog.setval('public.users_id_seq', 1, true);
SELECT pg_catalog.setval('public.workflows_id_seq', 11, true);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_id_key UNIQUE (key_id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.callbacks
    ADD CONSTRAINT callbacks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.callbacks
    ADD CONSTRAINT callbacks_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_organisation_id_name_key UNIQUE (organisation_id, name);
ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.data_entries
    ADD CONSTRAINT data_entries_pkey PRIMARY KEY (organisation_id, key);
ALTER TABLE ONLY public.data_usage
    ADD CONSTRAINT data_usage_pkey PRIMARY KEY (organisation_id);
ALTER TABLE ONLY public.data_writes
    ADD CONSTRAINT data_writes_pkey PRIMARY KEY (organisation_id, write_key);
ALTER TABLE ONLY public.execution_checkpoints
    ADD CONSTRAINT execution_checkpoints_pkey PRIMARY KEY (execution_id, seq);
ALTER TABLE ONLY public.execution_child_tokens
    ADD CONSTRAINT execution_child_tokens_pkey PRIMARY KEY (execution_id, child_id);
ALTER TABLE ONLY public.execution_follow_ups
    ADD CONSTRAINT execution_follow_ups_pkey PRIMARY KEY (kind, execution_id);
ALTER TABLE ONLY public.execution_signals
    ADD CONSTRAINT execution_signals_pkey PRIMARY KEY (execution_id, seq);
ALTER TABLE ONLY public.executions
    ADD CONSTRAINT executions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.former_key_uses
    ADD CONSTRAINT former_key_uses_pkey PRIMARY KEY (api_key_id, source_ip);
ALTER TABLE ONLY public.former_webhook_hashes
    ADD CONSTRAINT former_webhook_hashes_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.idempotency_records
    ADD CONSTRAINT idempotency_records_pkey PRIMARY KEY (key_family_id, route, idempotency_key);
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.organisation_settings
    ADD CONSTRAINT organisation_settings_pkey PRIMARY KEY (organisation_id);
ALTER TABLE ONLY public.organisations
    ADD CONSTRAINT organisations_name_key UNIQUE (name);
ALTER TABLE ONLY public.organisations
    ADD CONSTRAINT organisations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.pinned_outputs
    ADD CONSTRAINT pinned_outputs_pkey PRIMARY KEY (workflow_id, user_id, node_id);
ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash);
ALTER TABLE ONLY public.sample_listeners
    ADD CONSTRAINT sample_listeners_pkey PRIMARY KEY (workflow_id, user_id);
ALTER TABLE ONLY public.schedule_fires
    ADD CONSTRAINT schedule_fires_pkey PRIMARY KEY (workflow_id, fire_time);
ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (workflow_id);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.secret_keys
    ADD CONSTRAINT secret_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.service_samples
    ADD CONSTRAINT service_samples_pkey PRIMARY KEY (minute);
ALTER TABLE ONLY public.service_secrets
    ADD CONSTRAINT service_secrets_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.setup_links
    ADD CONSTRAINT setup_links_pkey PRIMARY KEY (token_hash);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (workflow_id, event_hash);
ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.workflow_drafts
    ADD CONSTRAINT workflow_drafts_pkey PRIMARY KEY (workflow_id, user_id);
ALTER TABLE ONLY public.workflow_samples
    ADD CONSTRAINT workflow_samples_pkey PRIMARY KEY (workflow_id);
ALTER TABLE ONLY public.workflow_versions
    ADD CONSTRAINT workflow_versions_pkey PRIMARY KEY (workflow_id, version);
ALTER TABLE ONLY public.workflows
    ADD CONSTRAINT workflows_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.workflows
    ADD CONSTRAINT workflows_webhook_hash_key UNIQUE (webhook_hash);
CREATE INDEX api_keys_by_issuer ON public.api_keys USING btree (issued_by_user) WHERE (issued_by_user IS NOT NULL);
CREATE INDEX api_keys_by_organisation ON public.api_keys USING btree (organisation_id, id);
CREATE INDEX audit_log_by_action ON public.audit_log USING btree (organisation_id, action, id);
CREATE INDEX audit_log_by_age ON public.audit_log USING btree (occurred_at);
CREATE INDEX audit_log_by_organisation ON public.audit_log USING btree (organisation_id, id);
CREATE INDEX audit_log_by_time ON public.audit_log USING btree (organisation_id, occurred_at);
CREATE UNIQUE INDEX audit_log_repeated ON public.audit_log USING btree (organisation_id, repeat_key) WHERE (repeat_key IS NOT NULL);
CREATE INDEX callbacks_by_execution ON public.callbacks USING btree (execution_id);
CREATE INDEX callbacks_decided_approvals ON public.callbacks USING btree (organisation_id, id) WHERE ((kind = 'approval'::text) AND (used_at IS NOT NULL));
CREATE INDEX callbacks_pending_approvals ON public.callbacks USING btree (organisation_id, id) WHERE ((kind = 'approval'::text) AND (used_at IS NULL));
CREATE INDEX credentials_by_key ON public.credentials USING btree (key_id, id);
CREATE INDEX data_entries_by_expiry ON public.data_entries USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX data_writes_by_age ON public.data_writes USING btree (created_at);
CREATE INDEX executions_by_creation ON public.executions USING btree (organisation_id, created_at);
CREATE INDEX executions_by_key ON public.executions USING btree (api_key_id, id) WHERE (api_key_id IS NOT NULL);
CREATE INDEX executions_by_organisation ON public.executions USING btree (organisation_id, id);
CREATE INDEX executions_by_status ON public.executions USING btree (organisation_id, status, id) WHERE (status <> 'completed'::text);
CREATE INDEX executions_by_trigger ON public.executions USING btree (organisation_id, trigger_type, id) WHERE (trigger_type <> ALL (ARRAY['api'::text, 'webhook'::text]));
CREATE INDEX executions_by_workflow ON public.executions USING btree (workflow_id, id);
CREATE INDEX executions_by_workflow_and_status ON public.executions USING btree (workflow_id, status, ((- id))) WHERE (status <> 'running'::text);
CREATE UNIQUE INDEX executions_children ON public.executions USING btree (parent_execution_id, parent_call) WHERE (parent_execution_id IS NOT NULL);
CREATE INDEX executions_crashed ON public.executions USING btree (id) WHERE ((crashed_attempts > 0) AND (completed_at IS NULL));
CREATE INDEX executions_failed_by_end ON public.executions USING btree (completed_at) WHERE (status = 'failed'::text);
CREATE INDEX executions_in_test_mode ON public.executions USING btree (organisation_id, id) WHERE is_test_mode;
CREATE INDEX executions_limited_queued ON public.executions USING btree (workflow_id, id) WHERE ((status = 'queued'::text) AND (max_concurrency IS NOT NULL));
CREATE INDEX executions_limited_running ON public.executions USING btree (workflow_id) WHERE ((status = 'running'::text) AND (max_concurrency IS NOT NULL));
CREATE INDEX executions_limited_waiting ON public.executions USING btree (workflow_id, wake_at) WHERE ((status = 'waiting_async'::text) AND (max_concurrency IS NOT NULL));
CREATE INDEX executions_queued ON public.executions USING btree (id) WHERE ((status = 'queued'::text) AND (max_concurrency IS NULL));
CREATE INDEX executions_reruns ON public.executions USING btree (rerun_of) WHERE (rerun_of IS NOT NULL);
CREATE INDEX executions_running ON public.executions USING btree (worker_id) WHERE (status = 'running'::text);
CREATE INDEX executions_trials ON public.executions USING btree (workflow_id, workflow_version) WHERE (workflow_version < 0);
CREATE INDEX executions_waiting ON public.executions USING btree (wake_at) WHERE ((status = 'waiting_async'::text) AND (max_concurrency IS NULL));
CREATE INDEX former_webhook_hashes_by_age ON public.former_webhook_hashes USING btree (valid_until);
CREATE INDEX former_webhook_hashes_by_workflow ON public.former_webhook_hashes USING btree (workflow_id);
CREATE INDEX idempotency_records_by_age ON public.idempotency_records USING btree (created_at);
CREATE INDEX invitations_by_age ON public.invitations USING btree (expires_at);
CREATE INDEX invitations_by_email ON public.invitations USING btree (email) WHERE ((accepted_at IS NULL) AND (revoked_at IS NULL));
CREATE INDEX invitations_by_organisation ON public.invitations USING btree (organisation_id, id);
CREATE INDEX members_by_email ON public.members USING btree (email) WHERE (removed_at IS NULL);
CREATE UNIQUE INDEX members_present_email ON public.members USING btree (organisation_id, email) WHERE (removed_at IS NULL);
CREATE INDEX sample_listeners_by_age ON public.sample_listeners USING btree (expires_at);
CREATE INDEX schedule_fires_by_age ON public.schedule_fires USING btree (recorded_at);
CREATE INDEX schedule_fires_open ON public.schedule_fires USING btree (workflow_id) WHERE is_open;
CREATE INDEX schedule_fires_queued ON public.schedule_fires USING btree (workflow_id, fire_time) WHERE (outcome = 'queued'::text);
CREATE INDEX schedules_due ON public.schedules USING btree (next_fire_at) WHERE (next_fire_at IS NOT NULL);
CREATE UNIQUE INDEX secret_keys_one_current ON public.secret_keys USING btree (state) WHERE (state = 'current'::text);
CREATE INDEX sessions_by_age ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_by_user ON public.sessions USING btree (user_id, id);
CREATE UNIQUE INDEX users_by_email ON public.users USING btree (email) WHERE (removed_at IS NULL);
CREATE INDEX webhook_deliveries_by_age ON public.webhook_deliveries USING btree (expires_at);
CREATE INDEX workflow_versions_trials ON public.workflow_versions USING btree (created_at) WHERE (version < 0);
CREATE INDEX workflows_by_organisation ON public.workflows USING btree (organisation_id, id);
CREATE INDEX workflows_by_status ON public.workflows USING btree (organisation_id, status, id);
CREATE TRIGGER data_entries_count_delete AFTER DELETE ON public.data_entries REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_data_entries();
CREATE TRIGGER data_entries_count_insert AFTER INSERT ON public.data_entries REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_data_entries();
CREATE TRIGGER executions_count_child_tokens AFTER UPDATE ON public.executions FOR EACH ROW WHEN (((new.completed_at IS NOT NULL) AND (old.completed_at IS NULL) AND (new.parent_execution_id IS NOT NULL) AND (new.consumed_ai_tokens > 0))) EXECUTE FUNCTION public.count_child_tokens();
CREATE TRIGGER executions_forget_child_tokens AFTER DELETE ON public.executions REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.forget_child_tokens();
CREATE TRIGGER executions_guard_status BEFORE UPDATE ON public.executions FOR EACH ROW WHEN ((old.status <> 'running'::text)) EXECUTE FUNCTION public.guard_execution_status();
CREATE TRIGGER executions_leave_follow_ups AFTER UPDATE ON public.executions FOR EACH ROW WHEN (((new.completed_at IS NOT NULL) AND (old.completed_at IS NULL) AND (new.parent_waits OR new.has_waited_children OR (new.error_workflow_id IS NOT NULL)))) EXECUTE FUNCTION public.leave_follow_ups();
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_issued_by_fkey FOREIGN KEY (issued_by) REFERENCES public.members(id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_issued_by_user_fkey FOREIGN KEY (issued_by_user) REFERENCES public.users(id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES public.api_keys(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_member_id_fkey FOREIGN KEY (member_id) REFERENCES public.members(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.callbacks
    ADD CONSTRAINT callbacks_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES public.executions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.members(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.secret_keys(id);
ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.data_entries
    ADD CONSTRAINT data_entries_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.data_usage
    ADD CONSTRAINT data_usage_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.data_writes
    ADD CONSTRAINT data_writes_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.execution_checkpoints
    ADD CONSTRAINT execution_checkpoints_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES public.executions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.execution_child_tokens
    ADD CONSTRAINT execution_child_tokens_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.execution_follow_ups
    ADD CONSTRAINT execution_follow_ups_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES public.executions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.execution_signals
    ADD CONSTRAINT execution_signals_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES public.executions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.executions
    ADD CONSTRAINT executions_workflow_id_workflow_version_fkey FOREIGN KEY (workflow_id, workflow_version) REFERENCES public.workflow_versions(workflow_id, version) ON DELETE CASCADE;
ALTER TABLE ONLY public.former_key_uses
    ADD CONSTRAINT former_key_uses_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES public.api_keys(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.former_key_uses
    ADD CONSTRAINT former_key_uses_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.former_webhook_hashes
    ADD CONSTRAINT former_webhook_hashes_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.former_webhook_hashes
    ADD CONSTRAINT former_webhook_hashes_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES public.workflows(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.idempotency_records
    ADD CONSTRAINT idempotency_records_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_accepted_by_fkey FOREIGN KEY (accepted_by) REFERENCES public.users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES public.users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.organisation_settings
    ADD CONSTRAINT organisation_settings_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.pinned_outputs
    ADD CONSTRAINT pinned_outputs_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.pinned_outputs
    ADD CONSTRAINT pinned_outputs_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.pinned_outputs
    ADD CONSTRAINT pinned_outputs_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES public.workflows(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sample_listeners
    ADD CONSTRAINT sample_listeners_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sample_listeners
    ADD CONSTRAINT sample_listeners_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sample_listeners
    ADD CONSTRAINT sample_listeners_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES public.workflows(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.schedule_fires
    ADD CONSTRAINT schedule_fires_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.schedule_fires
    ADD CONSTRAINT schedule_fires_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES public.workflows(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES public.workflows(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_totp_key_id_fkey FOREIGN KEY (totp_key_id) REFERENCES public.secret_keys(id);
ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES public.workflows(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workflow_drafts
    ADD CONSTRAINT workflow_drafts_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workflow_drafts
    ADD CONSTRAINT workflow_drafts_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workflow_drafts
    ADD CONSTRAINT workflow_drafts_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES public.workflows(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workflow_samples
    ADD CONSTRAINT workflow_samples_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workflow_samples
    ADD CONSTRAINT workflow_samples_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES public.workflows(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workflow_versions
    ADD CONSTRAINT workflow_versions_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES public.api_keys(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.workflow_versions
    ADD CONSTRAINT workflow_versions_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workflow_versions
    ADD CONSTRAINT workflow_versions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.workflow_versions
    ADD CONSTRAINT workflow_versions_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES public.workflows(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workflows
    ADD CONSTRAINT workflows_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE public.api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.audit_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.callbacks ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.credentials ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.data_entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.data_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.data_writes ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.execution_checkpoints ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.execution_child_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.execution_follow_ups ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.execution_signals ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.executions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.former_key_uses ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.former_webhook_hashes ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.idempotency_records ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.invitations ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.members ENABLE ROW LEVEL SECURITY;
CREATE POLICY organisation ON public.api_keys USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.audit_log USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.callbacks USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.credentials USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.data_entries USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.data_usage USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.data_writes USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.execution_checkpoints USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.execution_child_tokens USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.execution_follow_ups USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.execution_signals USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.executions USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.former_key_uses USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.former_webhook_hashes USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.idempotency_records USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.invitations USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.members USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.organisation_settings USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.pinned_outputs USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.sample_listeners USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.schedule_fires USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.schedules USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.webhook_deliveries USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.workflow_drafts USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.workflow_samples USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.workflow_versions USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.workflows USING (public.organisation_visible(organisation_id));
ALTER TABLE public.organisation_settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.pinned_outputs ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.sample_listeners ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.schedule_fires ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.schedules ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.webhook_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.workflow_drafts ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.workflow_samples ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.workflow_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.workflows ENABLE ROW LEVEL SECURITY;
