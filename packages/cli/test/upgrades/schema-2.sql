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
CREATE FUNCTION public.organisation_visible(organisation_id bigint) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ((COALESCE(current_setting('millrace.organisation_id'::text, true), ''::text) = ''::text) OR (organisation_id = (NULLIF(current_setting('millrace.organisation_id'::text, true), ''::text))::bigint));
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
    CONSTRAINT api_keys_consecutive_failures_check CHECK ((consecutive_failures >= 0)),
    CONSTRAINT api_keys_key_id_check CHECK ((key_id ~ '^[A-Za-z0-9]{12}$'::text)),
    CONSTRAINT api_keys_last_four_check CHECK ((char_length(last_four) = 4)),
    CONSTRAINT api_keys_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
    CONSTRAINT api_keys_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['workflows:read'::text, 'workflows:write'::text, 'executions:execute'::text, 'executions:read'::text]))),
    CONSTRAINT api_keys_secret_hash_check CHECK ((octet_length(secret_hash) = 32))
);
ALTER TABLE ONLY public.api_keys FORCE ROW LEVEL SECURITY;
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
    CONSTRAINT audit_log_actor_check CHECK ((actor = ANY (ARRAY['api_key'::text, 'member'::text, 'operator'::text, 'service'::text])))
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
CREATE TABLE public.execution_checkpoints (
    execution_id bigint NOT NULL,
    seq integer NOT NULL,
    organisation_id bigint NOT NULL,
    records json NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT execution_checkpoints_seq_check CHECK ((seq >= 1))
);
ALTER TABLE ONLY public.execution_checkpoints FORCE ROW LEVEL SECURITY;
CREATE SEQUENCE public.execution_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
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
    CONSTRAINT executions_check CHECK (((status = 'running'::text) = (worker_id IS NOT NULL))),
    CONSTRAINT executions_check1 CHECK (((status = 'waiting_async'::text) = (wake_at IS NOT NULL))),
    CONSTRAINT executions_check2 CHECK (((status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) = (completed_at IS NOT NULL))),
    CONSTRAINT executions_check3 CHECK (((status = 'failed'::text) = (error IS NOT NULL))),
    CONSTRAINT executions_check4 CHECK ((completed_at >= started_at)),
    CONSTRAINT executions_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'waiting_async'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT executions_timeout_ms_check CHECK ((timeout_ms > 0))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000');
ALTER TABLE ONLY public.executions FORCE ROW LEVEL SECURITY;
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
ALTER TABLE public.members ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.members_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
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
CREATE TABLE public.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT schema_migrations_version_check CHECK ((version >= 1))
);
CREATE TABLE public.service_secrets (
    name text NOT NULL,
    value bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT service_secrets_name_check CHECK ((name ~ '^[a-z_]+$'::text)),
    CONSTRAINT service_secrets_value_check CHECK ((octet_length(value) = 32))
);
CREATE TABLE public.workers (
    id uuid NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    heartbeat_at timestamp with time zone DEFAULT now() NOT NULL,
    lease_expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.workflow_versions (
    workflow_id bigint NOT NULL,
    version integer NOT NULL,
    organisation_id bigint NOT NULL,
    flow_data json NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    api_key_id bigint,
    restored_from integer,
    CONSTRAINT workflow_versions_version_check CHECK ((version >= 1))
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
INSERT INTO public.api_keys OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'fFThyK7f3tYq', '411d8973-fbf4-40be-9e4a-102c9b4a0d4f', 'First key', '{workflows:read,workflows:write,executions:execute,executions:read}', '\xff43a4921331c00457ce25f3354acb7f53f717e60a8560d441e615878b3720aa', 'U5N8', NULL, '2026-11-23 14:04:11.261844+00', NULL, NULL, NULL, NULL, 0, '2026-11-23 14:04:11.53468+00', '127.0.0.1');
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES
	(1, 1, '2026-11-23 14:04:11.261844+00', 'organisation.created', 'service', NULL, NULL, NULL, NULL, '{"name":"Main"}'),
	(2, 1, '2026-11-23 14:04:11.261844+00', 'api_key.issued', 'service', 1, NULL, NULL, NULL, '{"key_id":"fFThyK7f3tYq","name":"First key","scopes":["workflows:read","workflows:write","executions:execute","executions:read"],"expires_at":null}');
INSERT INTO public.execution_checkpoints VALUES
	(1, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442651619,"consumedAiTokens":0,"status":"success","output":{"data":{"name":"Ada","number":12345}},"handles":["out"],"completedAtMs":1795442651619},{"nodeId":"greet","attempts":1,"startedAtMs":1795442651619,"consumedAiTokens":0,"status":"success","output":{"text":"Hello Ada","number":12345},"handles":["out"],"completedAtMs":1795442651621}]', '2026-11-23 14:04:11.622594+00'),
	(2, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442651641,"consumedAiTokens":0,"status":"success","output":{"data":{"name":"太郎","number":12345}},"handles":["out"],"completedAtMs":1795442651641},{"nodeId":"greet","attempts":1,"startedAtMs":1795442651641,"consumedAiTokens":0,"status":"success","output":{"text":"Hello 太郎","number":12345},"handles":["out"],"completedAtMs":1795442651641}]', '2026-11-23 14:04:11.642507+00'),
	(3, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442651660,"consumedAiTokens":0,"status":"success","output":{"data":{"name":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","number":12345}},"handles":["out"],"completedAtMs":1795442651660},{"nodeId":"greet","attempts":1,"startedAtMs":1795442651660,"consumedAiTokens":0,"status":"success","output":{"text":"Hello xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","number":12345},"handles":["out"],"completedAtMs":1795442651661}]', '2026-11-23 14:04:11.662119+00'),
	(4, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442651694,"consumedAiTokens":0,"status":"success","output":{"data":{"order":7}},"handles":["out"],"completedAtMs":1795442651694},{"nodeId":"stop","attempts":1,"startedAtMs":1795442651694,"consumedAiTokens":0,"failures":1,"status":"failed","output":{},"error":{"code":"workflow_failed","message":"No such order"},"handles":[],"completedAtMs":1795442651695}]', '2026-11-23 14:04:11.696849+00'),
	(5, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442651732,"consumedAiTokens":0,"status":"success","output":{"data":{"n":1}},"handles":["out"],"completedAtMs":1795442651732},{"nodeId":"delay","attempts":1,"startedAtMs":1795442651732,"consumedAiTokens":0,"status":"running"}]', '2026-11-23 14:04:11.734431+00'),
	(5, 2, 1, '[{"nodeId":"delay","attempts":1,"startedAtMs":1795442651732,"consumedAiTokens":0,"status":"waiting","reason":"delay","wakeAtMs":1795442741735,"output":{"waited_until":"2026-11-23T14:05:41.735Z"}}]', '2026-11-23 14:04:11.736933+00'),
	(6, 1, 1, '[{"nodeId":"start","attempts":1,"startedAtMs":1795442652797,"consumedAiTokens":0,"status":"success","output":{"data":{"n":5}},"handles":["out"],"completedAtMs":1795442652797},{"nodeId":"before","attempts":1,"startedAtMs":1795442652797,"consumedAiTokens":0,"status":"success","output":{"a":1},"handles":["out"],"completedAtMs":1795442652797},{"nodeId":"delay","attempts":1,"startedAtMs":1795442652797,"consumedAiTokens":0,"status":"running"}]', '2026-11-23 14:04:12.79924+00'),
	(6, 2, 1, '[{"nodeId":"delay","attempts":1,"startedAtMs":1795442652797,"consumedAiTokens":0,"status":"waiting","reason":"delay","wakeAtMs":1795442707799,"output":{"waited_until":"2026-11-23T14:05:07.799Z"}}]', '2026-11-23 14:04:12.800328+00');
INSERT INTO public.executions VALUES
	(1, 1, 2, 1, 'completed', 'api', 'greet #1', false, '{"name":"Ada","number":12345}', '2026-11-23 14:04:11.603+00', '2026-11-23 14:04:11.603+00', '2026-11-23 14:04:11.623+00', NULL, 0, NULL, NULL, NULL, 1, 1, 0, NULL),
	(2, 1, 2, 1, 'completed', 'api', 'greet #2', false, '{"name":"太郎","number":12345}', '2026-11-23 14:04:11.639+00', '2026-11-23 14:04:11.639+00', '2026-11-23 14:04:11.642+00', NULL, 0, NULL, NULL, NULL, 1, 1, 0, NULL),
	(3, 1, 2, 1, 'completed', 'api', 'greet #3', false, '{"name":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","number":12345}', '2026-11-23 14:04:11.655+00', '2026-11-23 14:04:11.655+00', '2026-11-23 14:04:11.662+00', NULL, 0, NULL, NULL, NULL, 1, 1, 0, NULL),
	(4, 1, 3, 1, 'failed', 'api', 'fail #4', false, '{"order":7}', '2026-11-23 14:04:11.691+00', '2026-11-23 14:04:11.691+00', '2026-11-23 14:04:11.697+00', NULL, 0, '{"code":"workflow_failed","message":"No such order","node_id":"stop"}', NULL, NULL, 1, 1, 0, NULL),
	(5, 1, 5, 1, 'waiting_async', 'api', 'delay #5', false, '{"n":1}', '2026-11-23 14:04:11.729+00', '2026-11-23 14:04:11.729+00', NULL, NULL, 0, NULL, '2026-11-23 14:05:41.735+00', NULL, 1, 2, 0, NULL),
	(6, 1, 11, 1, 'running', 'api', 'running #6', false, '{"n":5}', '2026-11-23 14:04:12.794+00', '2026-11-23 14:04:12.794+00', NULL, NULL, 0, NULL, NULL, 'c67ae243-a83d-4513-aadb-271da11be287', 1, 2, 0, NULL),
	(7, 1, 2, 1, 'queued', 'api', 'greet #7', false, '{"name":"queued 0","number":0}', '2026-11-23 14:04:16.972+00', NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL),
	(8, 1, 2, 1, 'queued', 'api', 'greet #8', false, '{"name":"queued 1","number":1}', '2026-11-23 14:04:16.995+00', NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL),
	(9, 1, 2, 1, 'queued', 'api', 'greet #9', false, '{"name":"queued 2","number":2}', '2026-11-23 14:04:17.001+00', NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL),
	(10, 1, 2, 1, 'queued', 'api', 'greet #10', false, '{"name":"queued 3","number":3}', '2026-11-23 14:04:17.01+00', NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL),
	(11, 1, 2, 1, 'queued', 'api', 'greet #11', false, '{"name":"queued 4","number":4}', '2026-11-23 14:04:17.014+00', NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL);
INSERT INTO public.organisations OVERRIDING SYSTEM VALUE VALUES
	(1, 'Main', '2026-11-23 14:04:11.261844+00');
INSERT INTO public.schema_migrations VALUES
	(1, 'initial', 'd2dbac90d163264bf767b0b2d097b4537f7205a7b7bc568e945ddcd09848643d', '2026-11-23 14:04:11.224775+00'),
	(2, 'cursor_secret', 'f204c456091a0a638206bea38614b66c1530dce7283b85539eec5576e8496d99', '2026-11-23 14:04:11.247844+00');
INSERT INTO public.service_secrets VALUES
	('cursor', '\x5375bed3b36e0ea93f0ec982869182d44127a4c5a5a1f416ddb27343e5477719', '2026-11-23 14:04:11.247844+00');
INSERT INTO public.workers VALUES
	('c67ae243-a83d-4513-aadb-271da11be287', 'host', 30802, '2026-11-23 14:04:11.282436+00', '2026-11-23 14:04:15.294982+00', '2026-11-23 14:04:19.294982+00');
INSERT INTO public.workflow_versions VALUES
	(1, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","position":{"x":0,"y":120},"data":{"label":"Start"}},{"id":"has_name","type":"core.if","position":{"x":220,"y":120},"data":{"label":"Is there a name?","config":{"conditions":[{"left":"{{trigger.data.name}}","operator":"is_not_empty"}]}}},{"id":"greet_one","type":"core.set","position":{"x":460,"y":20},"data":{"label":"Greet by name","config":{"values":{"greeting":"Hello, {{trigger.data.name}}!"}}}},{"id":"greet_all","type":"core.set","position":{"x":460,"y":220},"data":{"label":"Greet everybody","config":{"values":{"greeting":"Hello, everybody!"}}}},{"id":"answer","type":"core.merge","position":{"x":700,"y":120},"data":{"label":"Answer","config":{"mode":"first"}}}],"edges":[{"id":"e1","source":"start","target":"has_name"},{"id":"e2","source":"has_name","sourceHandle":"true","target":"greet_one"},{"id":"e3","source":"has_name","sourceHandle":"false","target":"greet_all"},{"id":"e4","source":"greet_one","target":"answer"},{"id":"e5","source":"greet_all","target":"answer"}]}', '2026-11-23 14:04:11.261+00', 1, NULL),
	(2, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"greet","type":"core.set","data":{"config":{"values":{"text":"Hello {{trigger.data.name}}","number":"{{trigger.data.number}}"}}}}],"edges":[{"source":"start","target":"greet"}]}', '2026-11-23 14:04:11.539+00', 1, NULL),
	(3, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"stop","type":"core.fail","data":{"config":{"message":"No such order"}}}],"edges":[{"source":"start","target":"stop"}]}', '2026-11-23 14:04:11.677+00', 1, NULL),
	(4, 1, 1, '{"nodes":[{"id":"start","type":"trigger.webhook","data":{"config":{}}},{"id":"keep","type":"core.set","data":{"config":{"values":{"body":"{{trigger.data.body}}"}}}}],"edges":[{"source":"start","target":"keep"}]}', '2026-11-23 14:04:11.704+00', 1, NULL),
	(5, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"delay","type":"core.delay","data":{"config":{"duration_ms":90000}}},{"id":"after","type":"core.set","data":{"config":{"values":{"done":true}}}}],"edges":[{"source":"start","target":"delay"},{"source":"delay","target":"after"}]}', '2026-11-23 14:04:11.719+00', 1, NULL),
	(6, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"wait","type":"wait.callback","data":{"config":{"request":{"url":"http://127.0.0.1:38109/","body":{"callback_url":"{{args.callback_url}}"}}}}},{"id":"after","type":"core.set","data":{"config":{"values":{"got":"{{nodes.wait.output.body}}"}}}}],"edges":[{"source":"start","target":"wait"},{"source":"wait","target":"after"}]}', '2026-11-23 14:04:12.742+00', 1, NULL),
	(7, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"wait","type":"wait.approval","data":{"config":{"title":"Ship it?"}}}],"edges":[{"source":"start","target":"wait"}]}', '2026-11-23 14:04:12.753+00', 1, NULL),
	(8, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"call","type":"flow.call","data":{"config":{"workflow_id":5,"input":{"n":4}}}}],"edges":[{"source":"start","target":"call"}]}', '2026-11-23 14:04:12.762+00', 1, NULL),
	(9, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"each","type":"core.for_each","data":{"config":{"items":"{{trigger.data.items}}"}}},{"id":"double","type":"core.set","data":{"config":{"values":{"item":"{{item}}"}}},"parentId":"each"}],"edges":[{"source":"start","target":"each"}]}', '2026-11-23 14:04:12.77+00', 1, NULL),
	(10, 1, 1, '{"nodes":[{"id":"tick","type":"trigger.schedule","data":{"config":{"schedule":{"type":"every","every":1,"unit":"days"},"timezone":"UTC","missed":"skip"}}},{"id":"note","type":"core.set","data":{"config":{"values":{"ran":true}}}}],"edges":[{"source":"tick","target":"note"}]}', '2026-11-23 14:04:12.779+00', 1, NULL),
	(11, 1, 1, '{"nodes":[{"id":"start","type":"trigger.manual","data":{"config":{}}},{"id":"before","type":"core.set","data":{"config":{"values":{"a":1}}}},{"id":"delay","type":"core.delay","data":{"config":{"duration_ms":55000}}},{"id":"after","type":"core.set","data":{"config":{"values":{"done":true}}}}],"edges":[{"source":"start","target":"before"},{"source":"before","target":"delay"},{"source":"delay","target":"after"}]}', '2026-11-23 14:04:12.786+00', 1, NULL);
INSERT INTO public.workflows OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'Greeting', 'A first example: greets by name when the input has one, and everybody otherwise.', 'active', '{sample}', false, 1, 'trigger.manual', 'IKz1Ot79DCN8UBSYB0ZHZMBtt8teZ_PqBHg4QwneEhc', '2026-11-23 14:04:11.261+00', '2026-11-23 14:04:11.261+00'),
	(2, 1, 'greet', '', 'active', '{}', false, 1, 'trigger.manual', 'L27ZvUXakCABFCxxhJqtWfqF6FavYddzolgLdNkI0rk', '2026-11-23 14:04:11.539+00', '2026-11-23 14:04:11.566+00'),
	(3, 1, 'fail', '', 'active', '{}', false, 1, 'trigger.manual', 'XNcKkekLhGeNBHIQQ6jbspDAemHxFixAQVXf385XbmI', '2026-11-23 14:04:11.677+00', '2026-11-23 14:04:11.684+00'),
	(4, 1, 'hook', '', 'active', '{}', false, 1, 'trigger.webhook', 'zjiDrj36_W2_Vm-geE3ptKyTHLzxsuRSWbb0Uwn4UQA', '2026-11-23 14:04:11.704+00', '2026-11-23 14:04:11.709+00'),
	(5, 1, 'delay', '', 'active', '{}', false, 1, 'trigger.manual', 'zTApKO0AIHNPBE-cbx-Sfeea6yov-lYf0htOvkKmwrY', '2026-11-23 14:04:11.719+00', '2026-11-23 14:04:11.723+00'),
	(6, 1, 'callback', '', 'archived', '{}', false, 1, 'trigger.manual', 'jOZKbpziQH1Ep9AA8MgLKzf2I1xL6GcOsqgxqIbhNKE', '2026-11-23 14:04:12.742+00', '2026-11-23 14:04:12.748+00'),
	(7, 1, 'approval', '', 'archived', '{}', false, 1, 'trigger.manual', 'zU_57XdIDA0GaRDY9i35lDBS-osWLZb05GZmAZXoOBU', '2026-11-23 14:04:12.753+00', '2026-11-23 14:04:12.756+00'),
	(8, 1, 'parent', '', 'archived', '{}', false, 1, 'trigger.manual', '29FQOMygNIZJ0shmsbv0n5ZG5z45EAq6t01ZaoTkKf4', '2026-11-23 14:04:12.762+00', '2026-11-23 14:04:12.765+00'),
	(9, 1, 'loop', '', 'archived', '{}', false, 1, 'trigger.manual', 'b1pU0O2VtgdVYfGxPU9CRIaUkGt3L5OaAUG09Iu0FdY', '2026-11-23 14:04:12.77+00', '2026-11-23 14:04:12.774+00'),
	(10, 1, 'schedule', '', 'archived', '{}', false, 1, NULL, 'eZ2zEJc1ndP3ojc3SR075DJkqiGpW_BQ1srfn6HOB10', '2026-11-23 14:04:12.779+00', '2026-11-23 14:04:12.782+00'),
	(11, 1, 'running', '', 'active', '{}', false, 1, 'trigger.manual', 'Ir1e3gjHyHsBGQd_9l2n6uhZUrEFlO73TE1yOoKhl6Y', '2026-11-23 14:04:12.786+00', '2026-11-23 14:04:12.789+00');
SELECT pg_catalog.setval('public.api_keys_id_seq', 1, true);
SELECT pg_catalog.setval('public.audit_log_id_seq', 2, true);
SELECT pg_catalog.setval('public.execution_ids', 11, true);
SELECT pg_catalog.setval('public.members_id_seq', 1, false);
SELECT pg_catalog.setval('public.organisations_id_seq', 1, true);
SELECT pg_catalog.setval('public.workflows_id_seq', 11, true);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_id_key UNIQUE (key_id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.execution_checkpoints
    ADD CONSTRAINT execution_checkpoints_pkey PRIMARY KEY (execution_id, seq);
ALTER TABLE ONLY public.executions
    ADD CONSTRAINT executions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.idempotency_records
    ADD CONSTRAINT idempotency_records_pkey PRIMARY KEY (key_family_id, route, idempotency_key);
ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.organisations
    ADD CONSTRAINT organisations_name_key UNIQUE (name);
ALTER TABLE ONLY public.organisations
    ADD CONSTRAINT organisations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.service_secrets
    ADD CONSTRAINT service_secrets_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.workflow_versions
    ADD CONSTRAINT workflow_versions_pkey PRIMARY KEY (workflow_id, version);
ALTER TABLE ONLY public.workflows
    ADD CONSTRAINT workflows_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.workflows
    ADD CONSTRAINT workflows_webhook_hash_key UNIQUE (webhook_hash);
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
CREATE TRIGGER executions_guard_status BEFORE UPDATE ON public.executions FOR EACH ROW WHEN ((old.status <> 'running'::text)) EXECUTE FUNCTION public.guard_execution_status();
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_issued_by_fkey FOREIGN KEY (issued_by) REFERENCES public.members(id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES public.api_keys(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_member_id_fkey FOREIGN KEY (member_id) REFERENCES public.members(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.execution_checkpoints
    ADD CONSTRAINT execution_checkpoints_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES public.executions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.executions
    ADD CONSTRAINT executions_workflow_id_workflow_version_fkey FOREIGN KEY (workflow_id, workflow_version) REFERENCES public.workflow_versions(workflow_id, version) ON DELETE CASCADE;
ALTER TABLE ONLY public.idempotency_records
    ADD CONSTRAINT idempotency_records_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workflow_versions
    ADD CONSTRAINT workflow_versions_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES public.api_keys(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.workflow_versions
    ADD CONSTRAINT workflow_versions_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workflow_versions
    ADD CONSTRAINT workflow_versions_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES public.workflows(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.workflows
    ADD CONSTRAINT workflows_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisations(id) ON DELETE CASCADE;
ALTER TABLE public.api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.audit_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.execution_checkpoints ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.executions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.idempotency_records ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.members ENABLE ROW LEVEL SECURITY;
CREATE POLICY organisation ON public.api_keys USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.audit_log USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.execution_checkpoints USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.executions USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.idempotency_records USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.members USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.workflow_versions USING (public.organisation_visible(organisation_id));
CREATE POLICY organisation ON public.workflows USING (public.organisation_visible(organisation_id));
ALTER TABLE public.workflow_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.workflows ENABLE ROW LEVEL SECURITY;
