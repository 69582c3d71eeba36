-- Made by "npm run db:dump" from the migrations. Changes go into a new migration, never in here.

CREATE OR REPLACE FUNCTION public.add_vector_extension()
 RETURNS text
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF vector_extension_state() = 'available' THEN
    BEGIN
      CREATE EXTENSION IF NOT EXISTS vector;
    -- Most roles may not, and another process may be doing the same. Everything works without it.
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
  END IF;
  RETURN vector_extension_state();
END $function$;

CREATE OR REPLACE FUNCTION public.audit_sealable_at(occurred_at timestamp with time zone, repeat_key text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE
RETURN CASE WHEN (repeat_key IS NULL) THEN occurred_at ELSE ((date_trunc('day'::text, (occurred_at AT TIME ZONE 'UTC'::text)) + '1 day 00:10:00'::interval) AT TIME ZONE 'UTC'::text) END;

CREATE OR REPLACE FUNCTION public.count_child_tokens()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.count_data_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE data_usage u SET bytes = u.bytes + c.bytes
  FROM (SELECT organisation_id, sum(bytes) AS bytes FROM (
      SELECT organisation_id, octet_length(value::text) AS bytes FROM changed
      UNION ALL SELECT organisation_id, -octet_length(value::text) FROM former) s
    GROUP BY organisation_id) c
  WHERE u.organisation_id = c.organisation_id AND c.bytes <> 0;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.count_data_entries()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO data_usage (organisation_id, entries, bytes)
    SELECT organisation_id, count(*), sum(octet_length(key) + octet_length(value::text)) FROM changed
    GROUP BY organisation_id ORDER BY organisation_id
    ON CONFLICT (organisation_id) DO UPDATE
      SET entries = data_usage.entries + excluded.entries, bytes = data_usage.bytes + excluded.bytes;
  ELSE
    UPDATE data_usage u SET entries = u.entries - c.entries, bytes = u.bytes - c.bytes
    FROM (SELECT organisation_id, count(*) AS entries, sum(octet_length(key) + octet_length(value::text)) AS bytes
      FROM changed GROUP BY organisation_id) c
    WHERE u.organisation_id = c.organisation_id;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.count_files()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO file_usage (organisation_id, files, bytes) VALUES (NEW.organisation_id, 1, NEW.size)
    ON CONFLICT (organisation_id) DO UPDATE
      SET files = file_usage.files + 1, bytes = file_usage.bytes + excluded.bytes;
  ELSIF TG_OP = 'DELETE' THEN
    UPDATE file_usage SET files = files - 1, bytes = bytes - OLD.size WHERE organisation_id = OLD.organisation_id;
  ELSE
    UPDATE file_usage SET bytes = bytes + NEW.size - OLD.size WHERE organisation_id = NEW.organisation_id;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.count_vector_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    UPDATE vector_collections v SET bytes = v.bytes + c.bytes, updated_at = now()
    FROM (SELECT organisation_id, collection, sum(bytes) AS bytes FROM changed GROUP BY organisation_id, collection) c
    WHERE v.organisation_id = c.organisation_id AND v.name = c.collection;
    INSERT INTO data_usage (organisation_id, entries, bytes)
    SELECT organisation_id, 0, sum(bytes) FROM changed GROUP BY organisation_id ORDER BY organisation_id
    ON CONFLICT (organisation_id) DO UPDATE SET bytes = data_usage.bytes + excluded.bytes;
  ELSIF TG_OP = 'DELETE' THEN
    UPDATE vector_collections v SET bytes = v.bytes - c.bytes, updated_at = now()
    FROM (SELECT organisation_id, collection, sum(bytes) AS bytes FROM former GROUP BY organisation_id, collection) c
    WHERE v.organisation_id = c.organisation_id AND v.name = c.collection;
    UPDATE data_usage u SET bytes = u.bytes - c.bytes
    FROM (SELECT organisation_id, sum(bytes) AS bytes FROM former GROUP BY organisation_id) c
    WHERE u.organisation_id = c.organisation_id;
  ELSE
    UPDATE vector_collections v SET bytes = v.bytes + c.bytes, updated_at = now()
    FROM (SELECT organisation_id, collection, sum(bytes) AS bytes FROM (
        SELECT organisation_id, collection, bytes FROM changed
        UNION ALL SELECT organisation_id, collection, -bytes FROM former) s
      GROUP BY organisation_id, collection) c
    WHERE v.organisation_id = c.organisation_id AND v.name = c.collection;
    UPDATE data_usage u SET bytes = u.bytes + c.bytes
    FROM (SELECT organisation_id, sum(bytes) AS bytes FROM (
        SELECT organisation_id, bytes FROM changed
        UNION ALL SELECT organisation_id, -bytes FROM former) s
      GROUP BY organisation_id) c
    WHERE u.organisation_id = c.organisation_id AND c.bytes <> 0;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.drop_vector_index(index_id bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  EXECUTE format('DROP INDEX IF EXISTS %I', 'vector_embeddings_hnsw_' || index_id);
END $function$;

CREATE OR REPLACE FUNCTION public.find_near_embeddings(of_organisation bigint, of_collection text, target real[], filter jsonb, candidates integer)
 RETURNS TABLE(found_key text, found_vector bytea)
 LANGUAGE plpgsql
AS $function$
DECLARE
  home name := vector_schema();
  index_row record;
BEGIN
  SELECT * INTO STRICT index_row FROM vector_indexes WHERE organisation_id = of_organisation AND collection = of_collection;
  PERFORM set_config('hnsw.ef_search', least(1000, greatest(40, candidates))::text, true),
    -- Where a filter drops candidates, the scan goes on, as far as that is quicker than to compare everything that the filter lets through. What
    -- it finds is put in order afterwards.
    set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.max_scan_tuples', '5000', true),
    -- The index is what this is for, whatever the statistics say.
    set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true),
    set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true);
  RETURN QUERY EXECUTE format($q$
    SELECT n.key, i.vector FROM (
      SELECT e.key FROM vector_embeddings e
      WHERE e.index_id = %s AND e.organisation_id = $1 AND e.collection = $2
        AND ($4 = '[]' OR EXISTS (SELECT FROM vector_items i
          WHERE i.organisation_id = $1 AND i.collection = $2 AND i.key = e.key AND NOT EXISTS (
            SELECT FROM jsonb_array_elements($4) f CROSS JOIN LATERAL (SELECT i.metadata -> (f ->> 'name') AS own) m
            WHERE NOT CASE WHEN jsonb_typeof(own) = 'array'
              THEN EXISTS (SELECT FROM jsonb_array_elements(own) e WHERE f -> 'values' @> jsonb_build_array(e))
              ELSE f -> 'values' @> jsonb_build_array(own) END)))
      ORDER BY e.embedding::%I.halfvec(%s) OPERATOR(%I.<#>) $3::%I.halfvec(%s) LIMIT $5) n
    JOIN vector_items i ON i.organisation_id = $1 AND i.collection = $2 AND i.key = n.key$q$,
    index_row.id, home, index_row.dimension, home, home, index_row.dimension)
  USING of_organisation, of_collection, target, filter, candidates;
END $function$;

CREATE OR REPLACE FUNCTION public.forget_child_tokens()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM execution_child_tokens t USING gone WHERE t.execution_id = gone.id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.forget_files()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  WITH forgotten AS (
    DELETE FROM execution_files r USING gone WHERE r.execution_id = gone.id RETURNING r.file_id
  )
  UPDATE files f SET sweep_at = now() WHERE f.state = 'stored' AND f.id IN (SELECT file_id FROM forgotten);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.forget_records()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM callbacks r USING gone WHERE r.execution_id = gone.id;
  DELETE FROM execution_checkpoints r USING gone WHERE r.execution_id = gone.id;
  DELETE FROM execution_follow_ups r USING gone WHERE r.execution_id = gone.id;
  DELETE FROM execution_signals r USING gone WHERE r.execution_id = gone.id;
  DELETE FROM chat_turns r USING gone WHERE r.execution_id = gone.id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.forget_search_keys()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM execution_search_keys k USING (
    SELECT DISTINCT organisation_id, lower(e.value) AS value, id FROM gone CROSS JOIN LATERAL json_each_text(search_keys) e
    WHERE search_keys IS NOT NULL) g
  WHERE k.organisation_id = g.organisation_id AND k.value = g.value AND k.execution_id = g.id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.give_files()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO execution_files (organisation_id, execution_id, file_id)
  SELECT NEW.organisation_id, NEW.id, f.id FROM files f
  WHERE f.id = ANY (ARRAY(SELECT json_array_elements_text(NEW.given_files -> 'ids')::uuid))
    AND f.organisation_id = NEW.organisation_id AND f.state = 'stored'
    AND (NEW.given_files ->> 'of' IS NULL OR EXISTS (SELECT FROM execution_files r
      WHERE r.execution_id = (NEW.given_files ->> 'of')::bigint AND r.file_id = f.id
        AND r.organisation_id = NEW.organisation_id))
  ORDER BY f.id FOR SHARE OF f;
  RETURN NULL;
END $function$;

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

CREATE OR REPLACE FUNCTION public.has_vector_index(index_id bigint)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  SELECT EXISTS (SELECT FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
    WHERE c.relname = 'vector_embeddings_hnsw_' || index_id AND pg_table_is_visible(c.oid) AND i.indisvalid)
$function$;

CREATE OR REPLACE FUNCTION public.index_search_keys()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO execution_search_keys (organisation_id, value, execution_id)
  SELECT DISTINCT NEW.organisation_id, lower(value), NEW.id FROM json_each_text(NEW.search_keys);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.leave_follow_ups()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  concerns_all boolean := NOT NEW.parent_waits AND NEW.workflow_version > 0;
BEGIN
  INSERT INTO execution_follow_ups (kind, execution_id, organisation_id)
  SELECT kind, NEW.id, NEW.organisation_id
  FROM (VALUES
    ('tell_parent', NEW.parent_waits),
    ('cancel_children', NEW.has_waited_children),
    -- One that was started by an error starts none, so that two which fail do not start each other for ever.
    ('start_error_workflow',
      NEW.status = 'failed' AND NEW.error_workflow_id IS NOT NULL AND NEW.trigger_type <> 'error'),
    ('start_default_error_workflow',
      concerns_all AND NEW.status = 'failed' AND NEW.error_workflow_id IS NULL AND NEW.trigger_type <> 'error'
        AND EXISTS (SELECT FROM organisation_settings s
          WHERE s.organisation_id = NEW.organisation_id AND s.error_workflow_id <> NEW.workflow_id)),
    ('check_alerts',
      concerns_all AND NOT NEW.is_test_mode AND NEW.status <> 'cancelled' AND EXISTS (SELECT FROM alert_rules r
        WHERE r.organisation_id = NEW.organisation_id AND r.is_enabled
          AND (r.workflow_id IS NULL OR r.workflow_id = NEW.workflow_id)
          AND CASE r.kind
            WHEN 'slow' THEN NEW.completed_at - NEW.started_at > r.seconds * interval '1 second'
            ELSE NEW.status = 'failed' AND r.kind IN ('failure', 'failures', 'recovered') END))
  ) AS f (kind, is_due)
  WHERE is_due;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.make_vector_index(index_id bigint, dimension integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE home name := vector_schema();
BEGIN
  EXECUTE format('CREATE INDEX %I ON vector_embeddings USING hnsw ((embedding::%I.halfvec(%s)) %I.halfvec_ip_ops) WHERE index_id = %s',
    'vector_embeddings_hnsw_' || index_id, home, dimension, home, index_id);
END $function$;

CREATE OR REPLACE FUNCTION public.note_deleted_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO storage_changes (organisation_id, bytes)
  SELECT organisation_id, -sum(kept_bytes) FROM gone WHERE kept_bytes > 0 GROUP BY organisation_id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.note_permit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO permit_changes (organisation_id) VALUES (coalesce(NEW.organisation_id, OLD.organisation_id)) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.note_permit_change_everywhere()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO permit_changes (organisation_id) VALUES (0) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.organisation_visible(organisation_id bigint)
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN ((COALESCE(current_setting('millrace.organisation_id'::text, true), ''::text) = ''::text) OR (organisation_id = (NULLIF(current_setting('millrace.organisation_id'::text, true), ''::text))::bigint));

CREATE OR REPLACE FUNCTION public.protect_audit_chain()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.organisation_id = OLD.organisation_id AND NEW.length >= OLD.length
    AND (NEW.length > OLD.length OR NEW.head = OLD.head) AND (
      (NEW.dropped = OLD.dropped AND NEW.dropped_hash = OLD.dropped_hash)
      OR NEW.dropped > OLD.dropped
        AND NEW.dropped_hash = (SELECT hash FROM audit_seals
          WHERE organisation_id = NEW.organisation_id AND position = NEW.dropped)
        AND NOT EXISTS (SELECT FROM audit_seals s LEFT JOIN audit_log a ON a.id = s.entry_id
          WHERE s.organisation_id = NEW.organisation_id AND s.position <= NEW.dropped
            AND coalesce(a.last_occurred_at, a.occurred_at, s.sealed_at) > now() - interval '1 day')) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the chain of the audit log cannot be changed' USING ERRCODE = 'MR003';
END $function$;

CREATE OR REPLACE FUNCTION public.protect_audit_entry()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF audit_entry_is_dropped(OLD.id) THEN
      RETURN OLD;
    END IF;
  ELSIF NEW.repeats > OLD.repeats AND NEW.last_occurred_at >= OLD.last_occurred_at
    AND (NEW.id, NEW.organisation_id, NEW.occurred_at, NEW.action, NEW.actor, NEW.api_key_id, NEW.member_id, NEW.user_id,
      NEW.source_ip, NEW.request_id, NEW.repeat_key)
    IS NOT DISTINCT FROM (OLD.id, OLD.organisation_id, OLD.occurred_at, OLD.action, OLD.actor, OLD.api_key_id,
      OLD.member_id, OLD.user_id, OLD.source_ip, OLD.request_id, OLD.repeat_key)
    AND NOT EXISTS (SELECT FROM audit_seals WHERE entry_id = OLD.id) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'entries of the audit log cannot be changed or deleted' USING ERRCODE = 'MR003';
END $function$;

CREATE OR REPLACE FUNCTION public.protect_audit_seal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'DELETE' AND audit_entry_is_dropped(OLD.entry_id) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the chain of the audit log cannot be changed' USING ERRCODE = 'MR003';
END $function$;

CREATE OR REPLACE FUNCTION public.protect_audit_tables()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  narrowed_to text := coalesce(current_setting('millrace.organisation_id', true), '');
  is_used boolean;
BEGIN
  PERFORM set_config('millrace.organisation_id', '', true);
  is_used := EXISTS (SELECT FROM audit_log) OR EXISTS (SELECT FROM audit_seals);
  PERFORM set_config('millrace.organisation_id', narrowed_to, true);
  IF is_used THEN
    RAISE EXCEPTION 'the audit log cannot be emptied' USING ERRCODE = 'MR003';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.queue_audit_entries()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO audit_pending (entry_id, organisation_id, sealable_at)
  SELECT id, organisation_id, audit_sealable_at(occurred_at, repeat_key) FROM added;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.vector_extension_state()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  SELECT coalesce(
    (SELECT CASE WHEN string_to_array(substring(extversion FROM '^[0-9]+[.][0-9]+'), '.')::integer[] >= '{0,8}' THEN 'ready' ELSE 'old' END
     FROM pg_extension WHERE extname = 'vector'),
    (SELECT 'available' FROM pg_available_extensions WHERE name = 'vector'
       AND string_to_array(substring(default_version FROM '^[0-9]+[.][0-9]+'), '.')::integer[] >= '{0,8}'),
    'missing')
$function$;

CREATE OR REPLACE FUNCTION public.vector_schema()
 RETURNS name
 LANGUAGE sql
 STABLE
AS $function$
  SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
$function$;

CREATE SEQUENCE draft_revisions AS bigint START 1 INCREMENT 1;

CREATE SEQUENCE execution_ids AS bigint START 1 INCREMENT 1;

CREATE SEQUENCE trial_versions AS integer START -1 INCREMENT -1;

CREATE TABLE ai_memories (
  workflow_id bigint NOT NULL,
  key text NOT NULL,
  organisation_id bigint NOT NULL,
  turns json NOT NULL,
  summary text,
  bytes integer NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT ai_memories_pkey PRIMARY KEY (workflow_id, key),
  CONSTRAINT ai_memories_bytes_check CHECK (((bytes >= 0) AND (bytes <= 524288))),
  CONSTRAINT ai_memories_key_check CHECK (((char_length(key) >= 1) AND (char_length(key) <= 255)))
);

CREATE TABLE alert_failing_workflows (
  rule_id bigint NOT NULL,
  workflow_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  execution_id bigint NOT NULL,
  CONSTRAINT alert_failing_workflows_pkey PRIMARY KEY (rule_id, workflow_id)
);

CREATE TABLE alert_incidents (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  organisation_id bigint NOT NULL,
  rule_id bigint,
  message_id bigint,
  subject text NOT NULL,
  name text NOT NULL,
  workflow_id bigint,
  execution_id bigint,
  error json,
  occurrences bigint NOT NULL,
  first_at timestamp with time zone NOT NULL,
  last_at timestamp with time zone NOT NULL,
  CONSTRAINT alert_incidents_pkey PRIMARY KEY (id),
  CONSTRAINT alert_incidents_occurrences_check CHECK ((occurrences >= 1))
);

CREATE TABLE alert_marks (
  rule_id bigint NOT NULL,
  mark text NOT NULL,
  organisation_id bigint NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT alert_marks_pkey PRIMARY KEY (rule_id, mark)
);

CREATE TABLE alert_messages (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  organisation_id bigint NOT NULL,
  rule_id bigint,
  rule_name text NOT NULL,
  kind text NOT NULL,
  channel text NOT NULL,
  is_test boolean DEFAULT false NOT NULL,
  occurrences bigint NOT NULL,
  status text DEFAULT 'pending'::text NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  due_at timestamp with time zone DEFAULT now() NOT NULL,
  claim integer DEFAULT 0 NOT NULL,
  claimed_until timestamp with time zone,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  ended_at timestamp with time zone,
  error json,
  CONSTRAINT alert_messages_pkey PRIMARY KEY (id),
  CONSTRAINT alert_messages_check CHECK (((status = 'pending'::text) = (ended_at IS NULL))),
  CONSTRAINT alert_messages_occurrences_check CHECK ((occurrences >= 0)),
  CONSTRAINT alert_messages_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'sent'::text, 'failed'::text])))
);

CREATE TABLE alert_rules (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  organisation_id bigint NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  workflow_id bigint,
  threshold integer,
  seconds bigint,
  channel text NOT NULL,
  target json NOT NULL,
  language text NOT NULL,
  group_seconds integer NOT NULL,
  quiet_from smallint,
  quiet_to smallint,
  is_enabled boolean DEFAULT true NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  since timestamp with time zone DEFAULT now() NOT NULL,
  next_check_at timestamp with time zone DEFAULT now() NOT NULL,
  next_message_at timestamp with time zone DEFAULT now() NOT NULL,
  recent_failures json DEFAULT '[]'::json NOT NULL,
  CONSTRAINT alert_rules_pkey PRIMARY KEY (id),
  CONSTRAINT alert_rules_channel_check CHECK ((channel = ANY (ARRAY['mail'::text, 'chat'::text, 'webhook'::text]))),
  CONSTRAINT alert_rules_check CHECK (((kind = 'failures'::text) = (threshold IS NOT NULL))),
  CONSTRAINT alert_rules_check1 CHECK (((kind = ANY (ARRAY['failures'::text, 'slow'::text, 'silent'::text, 'expiring'::text])) = (seconds IS NOT NULL))),
  CONSTRAINT alert_rules_check2 CHECK (((kind <> 'silent'::text) OR (workflow_id IS NOT NULL))),
  CONSTRAINT alert_rules_check3 CHECK (((quiet_from IS NULL) = (quiet_to IS NULL))),
  CONSTRAINT alert_rules_group_seconds_check CHECK ((group_seconds >= 0)),
  CONSTRAINT alert_rules_kind_check CHECK ((kind = ANY (ARRAY['failure'::text, 'failures'::text, 'recovered'::text, 'slow'::text, 'silent'::text, 'expiring'::text]))),
  CONSTRAINT alert_rules_language_check CHECK ((language = ANY (ARRAY['en'::text, 'ja'::text]))),
  CONSTRAINT alert_rules_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT alert_rules_quiet_from_check CHECK (((quiet_from >= 0) AND (quiet_from <= 1439))),
  CONSTRAINT alert_rules_quiet_to_check CHECK (((quiet_to >= 0) AND (quiet_to <= 1439))),
  CONSTRAINT alert_rules_seconds_check CHECK ((seconds >= 1)),
  CONSTRAINT alert_rules_threshold_check CHECK (((threshold >= 2) AND (threshold <= 1000)))
);

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
  issued_by_user bigint,
  CONSTRAINT api_keys_key_id_key UNIQUE (key_id),
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_consecutive_failures_check CHECK ((consecutive_failures >= 0)),
  CONSTRAINT api_keys_key_id_check CHECK ((key_id ~ '^[A-Za-z0-9]{12}$'::text)),
  CONSTRAINT api_keys_last_four_check CHECK ((char_length(last_four) = 4)),
  CONSTRAINT api_keys_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT api_keys_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['workflows:read'::text, 'workflows:write'::text, 'executions:execute'::text, 'executions:read'::text]))),
  CONSTRAINT api_keys_secret_hash_check CHECK ((octet_length(secret_hash) = 32))
);

CREATE TABLE audit_chains (
  organisation_id bigint NOT NULL,
  length bigint DEFAULT 0 NOT NULL,
  head bytea DEFAULT decode(repeat('00'::text, 32), 'hex'::text) NOT NULL,
  dropped bigint DEFAULT 0 NOT NULL,
  dropped_hash bytea DEFAULT decode(repeat('00'::text, 32), 'hex'::text) NOT NULL,
  verified_at timestamp with time zone,
  verified_entries bigint DEFAULT 0 NOT NULL,
  problem json,
  CONSTRAINT audit_chains_pkey PRIMARY KEY (organisation_id),
  CONSTRAINT audit_chains_check CHECK (((dropped >= 0) AND (dropped <= length))),
  CONSTRAINT audit_chains_dropped_hash_check CHECK ((octet_length(dropped_hash) = 32)),
  CONSTRAINT audit_chains_head_check CHECK ((octet_length(head) = 32)),
  CONSTRAINT audit_chains_length_check CHECK ((length >= 0))
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
  user_id bigint,
  repeat_key text,
  repeats integer DEFAULT 1 NOT NULL,
  last_occurred_at timestamp with time zone,
  CONSTRAINT audit_log_pkey PRIMARY KEY (id),
  CONSTRAINT audit_log_actor_check CHECK ((actor = ANY (ARRAY['api_key'::text, 'member'::text, 'user'::text, 'operator'::text, 'service'::text]))),
  CONSTRAINT audit_log_check CHECK (((repeat_key IS NULL) = (last_occurred_at IS NULL))),
  CONSTRAINT audit_log_check1 CHECK (((repeat_key IS NOT NULL) OR (repeats = 1))),
  CONSTRAINT audit_log_repeats_check CHECK ((repeats >= 1))
);

CREATE TABLE audit_pending (
  entry_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  sealable_at timestamp with time zone NOT NULL,
  CONSTRAINT audit_pending_pkey PRIMARY KEY (entry_id)
);

CREATE TABLE audit_seals (
  organisation_id bigint NOT NULL,
  "position" bigint NOT NULL,
  entry_id bigint NOT NULL,
  hash bytea NOT NULL,
  sealed_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT audit_seals_entry_id_key UNIQUE (entry_id),
  CONSTRAINT audit_seals_pkey PRIMARY KEY (organisation_id, "position"),
  CONSTRAINT audit_seals_hash_check CHECK ((octet_length(hash) = 32)),
  CONSTRAINT audit_seals_position_check CHECK (("position" >= 1))
);

CREATE TABLE callbacks (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
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
  fields json,
  answers json,
  question text DEFAULT ''::text NOT NULL,
  CONSTRAINT callbacks_token_hash_key UNIQUE (token_hash),
  CONSTRAINT callbacks_pkey PRIMARY KEY (id),
  CONSTRAINT callbacks_check CHECK (((kind = 'approval'::text) = ((title IS NOT NULL) AND (message IS NOT NULL) AND (choices IS NOT NULL)))),
  CONSTRAINT callbacks_check1 CHECK ((((kind = 'approval'::text) AND (used_at IS NOT NULL)) = ((decision IS NOT NULL) AND (comment IS NOT NULL) AND (decided_by IS NOT NULL)))),
  CONSTRAINT callbacks_kind_check CHECK ((kind = ANY (ARRAY['callback'::text, 'approval'::text]))),
  CONSTRAINT callbacks_question_check CHECK ((octet_length(question) <= 200)),
  CONSTRAINT callbacks_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

CREATE TABLE chat_sessions (
  workflow_id bigint NOT NULL,
  session_hash bytea NOT NULL,
  organisation_id bigint NOT NULL,
  turns integer DEFAULT 0 NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  last_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT chat_sessions_pkey PRIMARY KEY (workflow_id, session_hash),
  CONSTRAINT chat_sessions_session_hash_check CHECK ((octet_length(session_hash) = 32)),
  CONSTRAINT chat_sessions_turns_check CHECK ((turns >= 0))
);

CREATE TABLE chat_streams (
  execution_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  node_ids text[] NOT NULL,
  writer text,
  text text DEFAULT ''::text NOT NULL,
  written_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT chat_streams_pkey PRIMARY KEY (execution_id),
  CONSTRAINT chat_streams_text_check CHECK ((octet_length(text) <= 262144))
);

CREATE TABLE chat_turns (
  workflow_id bigint NOT NULL,
  session_hash bytea NOT NULL,
  number integer NOT NULL,
  organisation_id bigint NOT NULL,
  message_hash bytea NOT NULL,
  execution_id bigint NOT NULL,
  message text NOT NULL,
  outcome text,
  answer text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  files json,
  answer_files json,
  CONSTRAINT chat_turns_workflow_id_session_hash_message_hash_key UNIQUE (workflow_id, session_hash, message_hash),
  CONSTRAINT chat_turns_pkey PRIMARY KEY (workflow_id, session_hash, number),
  CONSTRAINT chat_turns_answer_check CHECK ((octet_length(answer) <= 262144)),
  CONSTRAINT chat_turns_answer_files_check CHECK ((octet_length((answer_files)::text) <= 16384)),
  CONSTRAINT chat_turns_check CHECK (((outcome IS NULL) = (answer IS NULL))),
  CONSTRAINT chat_turns_files_check CHECK ((octet_length((files)::text) <= 16384)),
  CONSTRAINT chat_turns_message_check CHECK ((octet_length(message) <= 65536)),
  CONSTRAINT chat_turns_message_hash_check CHECK ((octet_length(message_hash) = 32)),
  CONSTRAINT chat_turns_number_check CHECK ((number >= 1)),
  CONSTRAINT chat_turns_outcome_check CHECK ((outcome = ANY (ARRAY['answered'::text, 'failed'::text])))
);

CREATE TABLE credential_connections (
  state_hash bytea NOT NULL,
  organisation_id bigint NOT NULL,
  credential_id bigint NOT NULL,
  session_id bigint NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT credential_connections_pkey PRIMARY KEY (state_hash),
  CONSTRAINT credential_connections_state_hash_check CHECK ((octet_length(state_hash) = 32))
);

CREATE TABLE credential_grants (
  credential_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  state text DEFAULT 'pending'::text NOT NULL,
  generation bigint DEFAULT 0 NOT NULL,
  key_id text,
  ciphertext bytea,
  expires_at timestamp with time zone,
  renew_at timestamp with time zone,
  obtained_at timestamp with time zone,
  connected_at timestamp with time zone,
  lease uuid,
  lease_until timestamp with time zone,
  CONSTRAINT credential_grants_pkey PRIMARY KEY (credential_id),
  CONSTRAINT credential_grants_check CHECK (((key_id IS NULL) = (ciphertext IS NULL))),
  CONSTRAINT credential_grants_check1 CHECK (((state = 'active'::text) = (ciphertext IS NOT NULL))),
  CONSTRAINT credential_grants_check2 CHECK (((lease IS NULL) = (lease_until IS NULL))),
  CONSTRAINT credential_grants_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'active'::text, 'ended'::text])))
);

CREATE TABLE credentials (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
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
  expires_at timestamp with time zone,
  CONSTRAINT credentials_organisation_id_name_key UNIQUE (organisation_id, name),
  CONSTRAINT credentials_pkey PRIMARY KEY (id),
  CONSTRAINT credentials_check CHECK (((key_id IS NULL) = (ciphertext IS NULL))),
  CONSTRAINT credentials_hosts_check CHECK ((cardinality(hosts) <= 50)),
  CONSTRAINT credentials_hosts_needed CHECK (((type = ANY (ARRAY['secret'::text, 'smtp'::text, 'imap'::text, 'sql'::text, 'redis'::text, 'mqtt'::text, 'kafka'::text, 'ai'::text, 'chat'::text])) OR (cardinality(hosts) > 0))),
  CONSTRAINT credentials_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT credentials_type_check CHECK ((type = ANY (ARRAY['bearer'::text, 'basic'::text, 'header'::text, 'query'::text, 'digest'::text, 'oauth2'::text, 'google_service_account'::text, 'aws'::text, 'jwt'::text, 'client_certificate'::text, 'secret'::text, 'smtp'::text, 'imap'::text, 'sql'::text, 'redis'::text, 'mqtt'::text, 'kafka'::text, 'ai'::text, 'chat'::text])))
);

CREATE TABLE data_entries (
  organisation_id bigint NOT NULL,
  key text NOT NULL,
  value json NOT NULL,
  expires_at timestamp with time zone,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT data_entries_pkey PRIMARY KEY (organisation_id, key),
  CONSTRAINT data_entries_key_check CHECK (((char_length(key) >= 1) AND (char_length(key) <= 255))),
  CONSTRAINT data_entries_value_check CHECK ((octet_length((value)::text) <= 1048576))
);

CREATE TABLE data_usage (
  organisation_id bigint NOT NULL,
  entries bigint NOT NULL,
  bytes bigint DEFAULT 0 NOT NULL,
  CONSTRAINT data_usage_pkey PRIMARY KEY (organisation_id)
);

CREATE TABLE data_writes (
  organisation_id bigint NOT NULL,
  write_key bytea NOT NULL,
  result json NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT data_writes_pkey PRIMARY KEY (organisation_id, write_key),
  CONSTRAINT data_writes_write_key_check CHECK ((octet_length(write_key) = 32))
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

CREATE TABLE execution_child_tokens (
  execution_id bigint NOT NULL,
  child_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  node_id text,
  tokens bigint NOT NULL,
  CONSTRAINT execution_child_tokens_pkey PRIMARY KEY (execution_id, child_id),
  CONSTRAINT execution_child_tokens_tokens_check CHECK ((tokens > 0))
);

CREATE TABLE execution_files (
  organisation_id bigint NOT NULL,
  execution_id bigint NOT NULL,
  file_id uuid NOT NULL,
  CONSTRAINT execution_files_pkey PRIMARY KEY (execution_id, file_id)
);

CREATE TABLE execution_follow_ups (
  kind text NOT NULL,
  execution_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT execution_follow_ups_pkey PRIMARY KEY (kind, execution_id),
  CONSTRAINT execution_follow_ups_kind_check CHECK ((kind = ANY (ARRAY['tell_parent'::text, 'cancel_children'::text, 'start_error_workflow'::text, 'start_default_error_workflow'::text, 'check_alerts'::text])))
);

CREATE TABLE execution_search_keys (
  organisation_id bigint NOT NULL,
  value text NOT NULL,
  execution_id bigint NOT NULL,
  CONSTRAINT execution_search_keys_pkey PRIMARY KEY (organisation_id, value, execution_id)
);

CREATE TABLE execution_signals (
  execution_id bigint NOT NULL,
  seq integer NOT NULL,
  organisation_id bigint NOT NULL,
  node_id text NOT NULL,
  iteration integer[] NOT NULL,
  payload json NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT execution_signals_pkey PRIMARY KEY (execution_id, seq),
  CONSTRAINT execution_signals_seq_check CHECK ((seq >= 1))
);

CREATE TABLE execution_views (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  organisation_id bigint NOT NULL,
  user_id bigint NOT NULL,
  name text NOT NULL,
  is_shared boolean NOT NULL,
  filters json NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT execution_views_organisation_id_user_id_name_key UNIQUE (organisation_id, user_id, name),
  CONSTRAINT execution_views_pkey PRIMARY KEY (id),
  CONSTRAINT execution_views_filters_check CHECK ((octet_length((filters)::text) <= 4000)),
  CONSTRAINT execution_views_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100)))
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
  priority smallint DEFAULT 1 NOT NULL,
  stored_bytes bigint DEFAULT 0 NOT NULL,
  held_until timestamp with time zone,
  cancel_code text,
  cancelled_for bigint,
  concurrency_key bytea DEFAULT '\x'::bytea NOT NULL,
  concurrency_limit integer,
  on_limit text,
  kept_bytes bigint DEFAULT 0 NOT NULL,
  first_records json,
  first_records_at timestamp with time zone,
  search_keys json,
  traceparent text,
  given_files json,
  started_as bigint,
  CONSTRAINT executions_pkey PRIMARY KEY (id),
  CONSTRAINT executions_cancel_check CHECK (((cancel_code IS NULL) OR (status = 'cancelled'::text))),
  CONSTRAINT executions_cancelled_for_check CHECK (((cancelled_for IS NULL) OR (cancel_code IS NOT NULL))),
  CONSTRAINT executions_check CHECK (((status = 'running'::text) = (worker_id IS NOT NULL))),
  CONSTRAINT executions_check1 CHECK (((status = 'waiting_async'::text) = (wake_at IS NOT NULL))),
  CONSTRAINT executions_check2 CHECK (((status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) = (completed_at IS NOT NULL))),
  CONSTRAINT executions_check3 CHECK (((status = 'failed'::text) = (error IS NOT NULL))),
  CONSTRAINT executions_check4 CHECK ((completed_at >= started_at)),
  CONSTRAINT executions_check5 CHECK (((parent_execution_id IS NULL) = (parent_node_id IS NULL))),
  CONSTRAINT executions_check6 CHECK (((parent_execution_id IS NULL) = (parent_iteration IS NULL))),
  CONSTRAINT executions_check7 CHECK (((parent_execution_id IS NULL) = (parent_call IS NULL))),
  CONSTRAINT executions_check8 CHECK (((parent_execution_id IS NOT NULL) OR (NOT parent_waits))),
  CONSTRAINT executions_check9 CHECK (((first_records IS NULL) = (first_records_at IS NULL))),
  CONSTRAINT executions_concurrency_check CHECK (
CASE
    WHEN (concurrency_limit IS NULL) THEN ((concurrency_key = '\x'::bytea) AND (on_limit IS NULL))
    ELSE (max_concurrency IS NOT NULL)
END),
  CONSTRAINT executions_concurrency_key_check CHECK ((octet_length(concurrency_key) = ANY (ARRAY[0, 32]))),
  CONSTRAINT executions_concurrency_limit_check CHECK ((concurrency_limit >= 1)),
  CONSTRAINT executions_depth_check CHECK ((depth >= 0)),
  CONSTRAINT executions_held_check CHECK (((held_until IS NULL) OR (status = ANY (ARRAY['queued'::text, 'cancelled'::text])))),
  CONSTRAINT executions_max_concurrency_check CHECK ((max_concurrency >= 1)),
  CONSTRAINT executions_on_limit_check CHECK ((on_limit = ANY (ARRAY['skip'::text, 'cancel_running'::text]))),
  CONSTRAINT executions_parent_call_check CHECK ((octet_length(parent_call) = 32)),
  CONSTRAINT executions_priority_check CHECK (((priority >= 0) AND (priority <= 2))),
  CONSTRAINT executions_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'waiting_async'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
  CONSTRAINT executions_timeout_ms_check CHECK ((timeout_ms > 0))
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000, autovacuum_analyze_scale_factor=0.02, autovacuum_analyze_threshold=5000);

CREATE TABLE file_usage (
  organisation_id bigint NOT NULL,
  files bigint NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT file_usage_pkey PRIMARY KEY (organisation_id)
);

CREATE TABLE files (
  id uuid NOT NULL,
  organisation_id bigint NOT NULL,
  state text NOT NULL,
  name text NOT NULL,
  type text NOT NULL,
  size bigint NOT NULL,
  sha256 bytea,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  sweep_at timestamp with time zone,
  CONSTRAINT files_pkey PRIMARY KEY (id),
  CONSTRAINT files_check CHECK (((state <> 'stored'::text) OR (sha256 IS NOT NULL))),
  CONSTRAINT files_check1 CHECK (((state = 'stored'::text) OR (sweep_at IS NOT NULL))),
  CONSTRAINT files_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT files_sha256_check CHECK ((octet_length(sha256) = 32)),
  CONSTRAINT files_size_check CHECK ((size >= 0)),
  CONSTRAINT files_state_check CHECK ((state = ANY (ARRAY['writing'::text, 'stored'::text, 'deleting'::text]))),
  CONSTRAINT files_type_check CHECK (((char_length(type) >= 1) AND (char_length(type) <= 255)))
);

CREATE TABLE former_ids (
  organisation_id bigint NOT NULL,
  kind text NOT NULL,
  first_id bigint NOT NULL,
  last_id bigint NOT NULL,
  shift bigint NOT NULL,
  CONSTRAINT former_ids_pkey PRIMARY KEY (organisation_id, kind, first_id),
  CONSTRAINT former_ids_check CHECK (((first_id <= last_id) AND (shift >= last_id))),
  CONSTRAINT former_ids_first_id_check CHECK ((first_id >= 1)),
  CONSTRAINT former_ids_kind_check CHECK ((kind = ANY (ARRAY['workflows'::text, 'executions'::text, 'credentials'::text])))
);

CREATE TABLE former_key_uses (
  api_key_id bigint NOT NULL,
  source_ip text NOT NULL,
  organisation_id bigint NOT NULL,
  last_used_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT former_key_uses_pkey PRIMARY KEY (api_key_id, source_ip)
);

CREATE TABLE former_webhook_hashes (
  hash text NOT NULL,
  workflow_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  valid_until timestamp with time zone NOT NULL,
  CONSTRAINT former_webhook_hashes_pkey PRIMARY KEY (hash),
  CONSTRAINT former_webhook_hashes_hash_check CHECK ((hash ~ '^[A-Za-z0-9_-]{43}$'::text))
);

CREATE TABLE held_starts (
  workflow_id bigint NOT NULL,
  key_hash bytea NOT NULL,
  seq bigint NOT NULL,
  execution_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  CONSTRAINT held_starts_execution_id_key UNIQUE (execution_id),
  CONSTRAINT held_starts_pkey PRIMARY KEY (workflow_id, key_hash, seq)
);

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
) WITH (vacuum_truncate=off, autovacuum_analyze_threshold=5000);

CREATE TABLE invitations (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
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
  CONSTRAINT invitations_token_hash_key UNIQUE (token_hash),
  CONSTRAINT invitations_pkey PRIMARY KEY (id),
  CONSTRAINT invitations_check CHECK (((accepted_at IS NULL) OR (revoked_at IS NULL))),
  CONSTRAINT invitations_email_check CHECK (((email = lower(email)) AND (email ~~ '%_@_%'::text))),
  CONSTRAINT invitations_maker_check CHECK (((NOT by_operator) OR (invited_by IS NULL))),
  CONSTRAINT invitations_proof_check CHECK (((NOT proves_address) OR (email IS NOT NULL))),
  CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'editor'::text, 'org_admin'::text, 'system_admin'::text]))),
  CONSTRAINT invitations_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

CREATE TABLE last_run_marks (
  id boolean DEFAULT true NOT NULL,
  execution_id bigint NOT NULL,
  CONSTRAINT last_run_marks_pkey PRIMARY KEY (id),
  CONSTRAINT last_run_marks_id_check CHECK (id)
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

CREATE TABLE organisation_settings (
  organisation_id bigint NOT NULL,
  time_zone text,
  retention_days_completed integer,
  retention_days_failed integer,
  retention_days_cancelled integer,
  requests_per_minute integer,
  allowed_hosts text[],
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  error_workflow_id bigint,
  CONSTRAINT organisation_settings_pkey PRIMARY KEY (organisation_id),
  CONSTRAINT organisation_settings_allowed_hosts_check CHECK ((cardinality(allowed_hosts) <= 200)),
  CONSTRAINT organisation_settings_requests_per_minute_check CHECK ((requests_per_minute >= 1)),
  CONSTRAINT organisation_settings_retention_days_cancelled_check CHECK ((retention_days_cancelled >= 1)),
  CONSTRAINT organisation_settings_retention_days_completed_check CHECK ((retention_days_completed >= 1)),
  CONSTRAINT organisation_settings_retention_days_failed_check CHECK ((retention_days_failed >= 1)),
  CONSTRAINT organisation_settings_time_zone_check CHECK (((char_length(time_zone) >= 1) AND (char_length(time_zone) <= 100)))
);

CREATE TABLE organisations (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  slot_weight integer DEFAULT 1 NOT NULL,
  slot_cap_percent integer DEFAULT 100 NOT NULL,
  queue_limit integer,
  executions_storage_bytes bigint,
  data_storage_bytes bigint,
  paused_at timestamp with time zone,
  CONSTRAINT organisations_name_key UNIQUE (name),
  CONSTRAINT organisations_pkey PRIMARY KEY (id),
  CONSTRAINT organisations_data_storage_bytes_check CHECK ((data_storage_bytes >= 0)),
  CONSTRAINT organisations_executions_storage_bytes_check CHECK ((executions_storage_bytes >= 0)),
  CONSTRAINT organisations_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT organisations_queue_limit_check CHECK ((queue_limit >= 0)),
  CONSTRAINT organisations_slot_cap_percent_check CHECK (((slot_cap_percent >= 1) AND (slot_cap_percent <= 100))),
  CONSTRAINT organisations_slot_weight_check CHECK (((slot_weight >= 1) AND (slot_weight <= 100)))
);

CREATE TABLE own_connector_revisions (
  organisation_id bigint NOT NULL,
  name text NOT NULL,
  revision integer NOT NULL,
  title text NOT NULL,
  file text NOT NULL,
  file_hash bytea NOT NULL,
  bytes integer NOT NULL,
  operations integer NOT NULL,
  triggers integer NOT NULL,
  user_id bigint,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT own_connector_revisions_pkey PRIMARY KEY (organisation_id, name, revision),
  CONSTRAINT own_connector_revisions_bytes_check CHECK (((bytes >= 1) AND (bytes <= 262144))),
  CONSTRAINT own_connector_revisions_file_check CHECK ((octet_length(file) <= 262144)),
  CONSTRAINT own_connector_revisions_file_hash_check CHECK ((octet_length(file_hash) = 32)),
  CONSTRAINT own_connector_revisions_operations_check CHECK ((operations >= 0)),
  CONSTRAINT own_connector_revisions_revision_check CHECK ((revision >= 1)),
  CONSTRAINT own_connector_revisions_triggers_check CHECK ((triggers >= 0))
);

CREATE TABLE own_connectors (
  organisation_id bigint NOT NULL,
  name text NOT NULL,
  revision integer NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  deleted_at timestamp with time zone,
  CONSTRAINT own_connectors_pkey PRIMARY KEY (organisation_id, name),
  CONSTRAINT own_connectors_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,59}$'::text)),
  CONSTRAINT own_connectors_revision_check CHECK ((revision >= 1))
);

CREATE TABLE permit_changes (
  organisation_id bigint NOT NULL,
  xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
  noted_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT permit_changes_pkey PRIMARY KEY (organisation_id, xid)
);

CREATE TABLE pinned_outputs (
  workflow_id bigint NOT NULL,
  user_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  node_id text NOT NULL,
  output json NOT NULL,
  pinned_at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
  CONSTRAINT pinned_outputs_pkey PRIMARY KEY (workflow_id, user_id, node_id),
  CONSTRAINT pinned_outputs_node_id_check CHECK (((char_length(node_id) >= 1) AND (char_length(node_id) <= 1000))),
  CONSTRAINT pinned_outputs_output_check CHECK (((json_typeof(output) = 'object'::text) AND (octet_length((output)::text) <= 262144)))
);

CREATE TABLE polled_items (
  workflow_id bigint NOT NULL,
  item_hash bytea NOT NULL,
  organisation_id bigint NOT NULL,
  seen_at timestamp with time zone DEFAULT now() NOT NULL,
  node_id text NOT NULL,
  CONSTRAINT polled_items_pkey PRIMARY KEY (workflow_id, node_id, item_hash),
  CONSTRAINT polled_items_item_hash_check CHECK ((octet_length(item_hash) = 32))
);

CREATE TABLE polls (
  workflow_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  source bytea NOT NULL,
  next_poll_at timestamp with time zone,
  claim bigint DEFAULT 0 NOT NULL,
  leased_until timestamp with time zone,
  "position" json,
  is_primed boolean DEFAULT false NOT NULL,
  unacknowledged json,
  last_poll_at timestamp with time zone,
  last_success_at timestamp with time zone,
  last_started integer DEFAULT 0 NOT NULL,
  started bigint DEFAULT 0 NOT NULL,
  failures integer DEFAULT 0 NOT NULL,
  last_error json,
  is_told boolean DEFAULT false NOT NULL,
  listens boolean DEFAULT false NOT NULL,
  node_id text NOT NULL,
  CONSTRAINT polls_pkey PRIMARY KEY (workflow_id, node_id),
  CONSTRAINT polls_failures_check CHECK ((failures >= 0)),
  CONSTRAINT polls_last_started_check CHECK ((last_started >= 0)),
  CONSTRAINT polls_source_check CHECK ((octet_length(source) = 32)),
  CONSTRAINT polls_started_check CHECK ((started >= 0))
);

CREATE TABLE recovery_codes (
  user_id bigint NOT NULL,
  code_hash bytea NOT NULL,
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash),
  CONSTRAINT recovery_codes_code_hash_check CHECK ((octet_length(code_hash) = 32))
);

CREATE TABLE sample_listeners (
  workflow_id bigint NOT NULL,
  user_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  refusal json,
  refused_at timestamp with time zone,
  CONSTRAINT sample_listeners_pkey PRIMARY KEY (workflow_id, user_id),
  CONSTRAINT sample_listeners_check CHECK (((refusal IS NULL) = (refused_at IS NULL)))
);

CREATE TABLE schedule_fires (
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
  node_id text,
  CONSTRAINT schedule_fires_pkey PRIMARY KEY (workflow_id, fire_time),
  CONSTRAINT schedule_fires_check CHECK (((outcome = 'started'::text) = (execution_id IS NOT NULL))),
  CONSTRAINT schedule_fires_check1 CHECK (((outcome = 'skipped'::text) = (reason IS NOT NULL))),
  CONSTRAINT schedule_fires_check2 CHECK (((outcome = 'started'::text) OR (NOT is_open))),
  CONSTRAINT schedule_fires_fire_number_check CHECK ((fire_number >= 1)),
  CONSTRAINT schedule_fires_outcome_check CHECK ((outcome = ANY (ARRAY['started'::text, 'queued'::text, 'skipped'::text]))),
  CONSTRAINT schedule_fires_reason_check CHECK ((reason = ANY (ARRAY['overlap'::text, 'queue_full'::text, 'missed'::text, 'inactive'::text])))
);

CREATE TABLE schedules (
  workflow_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  definition json NOT NULL,
  next_fire_time timestamp with time zone,
  next_fire_at timestamp with time zone,
  fire_count bigint DEFAULT 0 NOT NULL,
  CONSTRAINT schedules_pkey PRIMARY KEY (workflow_id),
  CONSTRAINT schedules_check CHECK (((next_fire_time IS NULL) = (next_fire_at IS NULL))),
  CONSTRAINT schedules_fire_count_check CHECK ((fire_count >= 0))
);

CREATE TABLE schema_migrations (
  version integer NOT NULL,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (version),
  CONSTRAINT schema_migrations_version_check CHECK ((version >= 1))
);

CREATE TABLE secret_keys (
  id text NOT NULL,
  state text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  retired_at timestamp with time zone,
  CONSTRAINT secret_keys_pkey PRIMARY KEY (id),
  CONSTRAINT secret_keys_check CHECK (((state = 'retired'::text) = (retired_at IS NOT NULL))),
  CONSTRAINT secret_keys_id_check CHECK ((id ~ '^[0-9a-f]{16}$'::text)),
  CONSTRAINT secret_keys_state_check CHECK ((state = ANY (ARRAY['current'::text, 'retiring'::text, 'retired'::text])))
);

CREATE TABLE service_samples (
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
  CONSTRAINT service_samples_pkey PRIMARY KEY (minute),
  CONSTRAINT service_samples_check CHECK ((((seconds IS NULL) = (started IS NULL)) AND ((seconds IS NULL) = (failed IS NULL)))),
  CONSTRAINT service_samples_failed_check CHECK ((failed >= 0)),
  CONSTRAINT service_samples_seconds_check CHECK ((seconds > (0)::double precision)),
  CONSTRAINT service_samples_started_check CHECK ((started >= 0))
);

CREATE TABLE service_secrets (
  name text NOT NULL,
  value bytea NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT service_secrets_pkey PRIMARY KEY (name),
  CONSTRAINT service_secrets_name_check CHECK ((name ~ '^[a-z_]+$'::text)),
  CONSTRAINT service_secrets_value_check CHECK ((octet_length(value) = 32))
);

CREATE TABLE sessions (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  user_id bigint NOT NULL,
  token_hash bytea NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  last_seen_at timestamp with time zone DEFAULT now() NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  source_ip text,
  user_agent text DEFAULT ''::text NOT NULL,
  CONSTRAINT sessions_token_hash_key UNIQUE (token_hash),
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

CREATE TABLE setup_links (
  token_hash bytea NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT setup_links_pkey PRIMARY KEY (token_hash),
  CONSTRAINT setup_links_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

CREATE TABLE start_debounces (
  workflow_id bigint NOT NULL,
  key_hash bytea NOT NULL,
  organisation_id bigint NOT NULL,
  execution_id bigint,
  first_at timestamp with time zone NOT NULL,
  due_at timestamp with time zone NOT NULL,
  rate_key_hash bytea,
  rate_interval_us bigint,
  rate_tolerance_us bigint,
  CONSTRAINT start_debounces_pkey PRIMARY KEY (workflow_id, key_hash),
  CONSTRAINT start_debounces_check CHECK ((((rate_key_hash IS NULL) = (rate_interval_us IS NULL)) AND ((rate_key_hash IS NULL) = (rate_tolerance_us IS NULL)))),
  CONSTRAINT start_debounces_key_hash_check CHECK ((octet_length(key_hash) = 32)),
  CONSTRAINT start_debounces_rate_key_hash_check CHECK ((octet_length(rate_key_hash) = 32))
);

CREATE TABLE start_rates (
  workflow_id bigint NOT NULL,
  key_hash bytea NOT NULL,
  organisation_id bigint NOT NULL,
  interval_us bigint NOT NULL,
  tolerance_us bigint NOT NULL,
  due_at timestamp with time zone NOT NULL,
  waiting bigint DEFAULT 0 NOT NULL,
  last_seq bigint DEFAULT 0 NOT NULL,
  CONSTRAINT start_rates_pkey PRIMARY KEY (workflow_id, key_hash),
  CONSTRAINT start_rates_interval_us_check CHECK ((interval_us > 0)),
  CONSTRAINT start_rates_key_hash_check CHECK ((octet_length(key_hash) = 32)),
  CONSTRAINT start_rates_tolerance_us_check CHECK ((tolerance_us >= 0)),
  CONSTRAINT start_rates_waiting_check CHECK ((waiting >= 0))
);

CREATE TABLE storage_changes (
  organisation_id bigint NOT NULL,
  bytes bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

CREATE TABLE storage_usage (
  organisation_id bigint NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT storage_usage_pkey PRIMARY KEY (organisation_id)
);

CREATE TABLE users (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
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
  shows_first_steps boolean DEFAULT false NOT NULL,
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_check CHECK (((totp_key_id IS NULL) = (totp_ciphertext IS NULL))),
  CONSTRAINT users_check1 CHECK (((totp_confirmed_at IS NULL) OR (totp_ciphertext IS NOT NULL))),
  CONSTRAINT users_email_check CHECK (((email = lower(email)) AND (email ~~ '%_@_%'::text))),
  CONSTRAINT users_language_check CHECK ((language = ANY (ARRAY['en'::text, 'ja'::text]))),
  CONSTRAINT users_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT users_removed_check CHECK (((removed_at IS NULL) OR ((password_hash IS NULL) AND (totp_ciphertext IS NULL))))
);

CREATE TABLE vector_collections (
  organisation_id bigint NOT NULL,
  name text NOT NULL,
  model text NOT NULL,
  dimension integer NOT NULL,
  items integer DEFAULT 0 NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  bytes bigint DEFAULT 0 NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT vector_collections_pkey PRIMARY KEY (organisation_id, name),
  CONSTRAINT vector_collections_dimension_check CHECK (((dimension >= 1) AND (dimension <= 4096))),
  CONSTRAINT vector_collections_items_check CHECK ((items >= 0)),
  CONSTRAINT vector_collections_model_check CHECK ((char_length(model) <= 200)),
  CONSTRAINT vector_collections_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100)))
);

CREATE TABLE vector_embeddings (
  organisation_id bigint NOT NULL,
  collection text NOT NULL,
  key text NOT NULL,
  index_id bigint NOT NULL,
  embedding real[] NOT NULL,
  CONSTRAINT vector_embeddings_pkey PRIMARY KEY (organisation_id, collection, key)
);

CREATE TABLE vector_indexes (
  organisation_id bigint NOT NULL,
  collection text NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  dimension integer NOT NULL,
  filled_to text DEFAULT ''::text,
  filled integer DEFAULT 0 NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT vector_indexes_id_key UNIQUE (id),
  CONSTRAINT vector_indexes_pkey PRIMARY KEY (organisation_id, collection),
  CONSTRAINT vector_indexes_dimension_check CHECK (((dimension >= 1) AND (dimension <= 4000)))
);

CREATE TABLE vector_items (
  organisation_id bigint NOT NULL,
  collection text NOT NULL,
  key text NOT NULL,
  text text NOT NULL,
  metadata jsonb NOT NULL,
  vector bytea NOT NULL,
  bytes integer GENERATED ALWAYS AS ((((octet_length(key) + octet_length(text)) + octet_length((metadata)::text)) + octet_length(vector))) STORED NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT vector_items_pkey PRIMARY KEY (organisation_id, collection, key),
  CONSTRAINT vector_items_key_check CHECK (((char_length(key) >= 1) AND (char_length(key) <= 255))),
  CONSTRAINT vector_items_metadata_check CHECK (((jsonb_typeof(metadata) = 'object'::text) AND (octet_length((metadata)::text) <= 16384))),
  CONSTRAINT vector_items_text_check CHECK ((octet_length(text) <= 131072)),
  CONSTRAINT vector_items_vector_check CHECK (((octet_length(vector) >= 4) AND (octet_length(vector) <= 16384)))
) WITH (toast_tuple_target=8160);

CREATE TABLE webhook_deliveries (
  workflow_id bigint NOT NULL,
  event_hash bytea NOT NULL,
  organisation_id bigint NOT NULL,
  execution_id bigint NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (workflow_id, event_hash),
  CONSTRAINT webhook_deliveries_event_hash_check CHECK ((octet_length(event_hash) = 32))
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

CREATE TABLE workflow_connectors (
  workflow_id bigint NOT NULL,
  version integer NOT NULL,
  name text NOT NULL,
  organisation_id bigint NOT NULL,
  revision integer NOT NULL,
  CONSTRAINT workflow_connectors_pkey PRIMARY KEY (workflow_id, version, name)
);

CREATE TABLE workflow_drafts (
  workflow_id bigint NOT NULL,
  user_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  flow_data json NOT NULL,
  base_version integer NOT NULL,
  revision bigint NOT NULL,
  updated_at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
  CONSTRAINT workflow_drafts_pkey PRIMARY KEY (workflow_id, user_id),
  CONSTRAINT workflow_drafts_base_version_check CHECK ((base_version >= 1)),
  CONSTRAINT workflow_drafts_revision_check CHECK ((revision >= 1))
);

CREATE TABLE workflow_favourites (
  user_id bigint NOT NULL,
  workflow_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT workflow_favourites_pkey PRIMARY KEY (user_id, workflow_id)
);

CREATE TABLE workflow_folders (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  organisation_id bigint NOT NULL,
  parent_id bigint,
  name text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  is_nested boolean GENERATED ALWAYS AS ((parent_id IS NOT NULL)) STORED NOT NULL,
  parent_is_nested boolean GENERATED ALWAYS AS (
CASE
    WHEN (parent_id IS NOT NULL) THEN false
    ELSE NULL::boolean
END) STORED,
  CONSTRAINT workflow_folders_name_key UNIQUE NULLS NOT DISTINCT (organisation_id, parent_id, name),
  CONSTRAINT workflow_folders_organisation_id_id_is_nested_key UNIQUE (organisation_id, id, is_nested),
  CONSTRAINT workflow_folders_organisation_id_id_key UNIQUE (organisation_id, id),
  CONSTRAINT workflow_folders_pkey PRIMARY KEY (id),
  CONSTRAINT workflow_folders_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100)))
);

CREATE TABLE workflow_runs (
  workflow_id bigint NOT NULL,
  hour timestamp with time zone NOT NULL,
  organisation_id bigint NOT NULL,
  completed bigint NOT NULL,
  failed bigint NOT NULL,
  durations bigint[] NOT NULL,
  CONSTRAINT workflow_runs_pkey PRIMARY KEY (workflow_id, hour),
  CONSTRAINT workflow_runs_completed_check CHECK ((completed >= 0)),
  CONSTRAINT workflow_runs_failed_check CHECK ((failed >= 0))
);

CREATE TABLE workflow_samples (
  workflow_id bigint NOT NULL,
  organisation_id bigint NOT NULL,
  revision integer NOT NULL,
  source text NOT NULL,
  data json NOT NULL,
  headers json,
  execution_id bigint,
  received_at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
  is_repeat boolean DEFAULT false NOT NULL,
  CONSTRAINT workflow_samples_pkey PRIMARY KEY (workflow_id),
  CONSTRAINT workflow_samples_check CHECK (((source = 'webhook'::text) = (headers IS NOT NULL))),
  CONSTRAINT workflow_samples_check1 CHECK (((source = 'webhook'::text) = (execution_id IS NOT NULL))),
  CONSTRAINT workflow_samples_revision_check CHECK ((revision >= 1)),
  CONSTRAINT workflow_samples_source_check CHECK ((source = ANY (ARRAY['webhook'::text, 'manual'::text])))
);

CREATE TABLE workflow_versions (
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
  CONSTRAINT workflow_versions_pkey PRIMARY KEY (workflow_id, version),
  CONSTRAINT workflow_versions_message_check CHECK (((char_length(message) >= 1) AND (char_length(message) <= 1000))),
  CONSTRAINT workflow_versions_trial_check CHECK (((version > 0) OR ((message IS NULL) AND (NOT pinned) AND (restored_from IS NULL)))),
  CONSTRAINT workflow_versions_version_check CHECK ((version <> 0))
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
  folder_id bigint,
  last_execution_id bigint DEFAULT 0 NOT NULL,
  name_key text GENERATED ALWAYS AS ("left"(lower(name), 100)) STORED NOT NULL,
  is_archived boolean GENERATED ALWAYS AS ((status = 'archived'::text)) STORED NOT NULL,
  template_id text,
  other_triggers text[] DEFAULT '{}'::text[] NOT NULL,
  CONSTRAINT workflows_webhook_hash_key UNIQUE (webhook_hash),
  CONSTRAINT workflows_pkey PRIMARY KEY (id),
  CONSTRAINT workflows_description_check CHECK ((char_length(description) <= 10000)),
  CONSTRAINT workflows_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
  CONSTRAINT workflows_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'inactive'::text, 'archived'::text]))),
  CONSTRAINT workflows_tags_check CHECK ((cardinality(tags) <= 50)),
  CONSTRAINT workflows_template_id_check CHECK (((char_length(template_id) >= 1) AND (char_length(template_id) <= 100))),
  CONSTRAINT workflows_version_check CHECK ((version >= 1)),
  CONSTRAINT workflows_webhook_hash_check CHECK ((webhook_hash ~ '^[A-Za-z0-9_-]{43}$'::text))
);

CREATE TABLE write_probes (
  written_at timestamp with time zone DEFAULT now() NOT NULL,
  filler text NOT NULL
);

CREATE VIEW execution_chunks WITH (security_invoker=true) AS
 SELECT executions.id AS execution_id,
    1 AS seq,
    executions.organisation_id,
    executions.first_records AS records,
    executions.first_records_at AS created_at
   FROM executions
  WHERE (executions.first_records IS NOT NULL)
UNION ALL
 SELECT execution_checkpoints.execution_id,
    execution_checkpoints.seq,
    execution_checkpoints.organisation_id,
    execution_checkpoints.records,
    execution_checkpoints.created_at
   FROM execution_checkpoints;

CREATE OR REPLACE FUNCTION public.api_key_valid_until(k api_keys)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN LEAST((k).expires_at, ((k).rotated_at + '24:00:00'::interval));

CREATE OR REPLACE FUNCTION public.api_key_state(k api_keys)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN CASE WHEN ((k).revoked_at IS NOT NULL) THEN 'revoked'::text WHEN (api_key_valid_until(k) <= now()) THEN 'expired'::text WHEN ((k).locked_at IS NOT NULL) THEN 'locked'::text ELSE 'valid'::text END;

CREATE OR REPLACE FUNCTION public.api_key_holder(k api_keys)
 RETURNS TABLE(issuer text, email text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
BEGIN ATOMIC
 SELECT
         CASE
             WHEN (((api_key_holder.k).issued_by IS NULL) AND ((api_key_holder.k).issued_by_user IS NULL)) THEN 'operator'::text
             WHEN (u.removed_at IS NOT NULL) THEN 'removed'::text
             WHEN (EXISTS ( SELECT
                FROM members s
               WHERE ((s.email = u.email) AND (s.removed_at IS NULL) AND (s.role = 'system_admin'::text)))) THEN 'system_admin'::text
             WHEN (m.removed_at IS NOT NULL) THEN 'removed'::text
             WHEN (m.id IS NOT NULL) THEN m.role
             ELSE COALESCE(( SELECT p.role
                FROM members p
               WHERE ((p.organisation_id = (api_key_holder.k).organisation_id) AND (p.email = u.email) AND (p.removed_at IS NULL))), 'removed'::text)
         END AS issuer,
     COALESCE(u.email, m.email) AS email
    FROM ((( SELECT) one
      LEFT JOIN users u ON ((u.id = (api_key_holder.k).issued_by_user)))
      LEFT JOIN members m ON ((m.id = (api_key_holder.k).issued_by)));
END;

CREATE OR REPLACE FUNCTION public.invitation_stands(i invitations)
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN ((i).by_operator OR (EXISTS (SELECT FROM (users u JOIN members m ON (((m.email = u.email) AND (m.removed_at IS NULL)))) WHERE ((u.id = (invitation_stands.i).invited_by) AND (u.removed_at IS NULL) AND ((m.role = 'system_admin'::text) OR ((m.role = 'org_admin'::text) AND (m.organisation_id = (invitation_stands.i).organisation_id) AND ((invitation_stands.i).role <> 'system_admin'::text) AND (NOT (invitation_stands.i).proves_address)))))));

CREATE OR REPLACE FUNCTION public.total_ai_tokens(execution bigint, own bigint)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE
BEGIN ATOMIC
 SELECT (total_ai_tokens.own + (COALESCE(sum(execution_child_tokens.tokens), (0)::numeric))::bigint)
    FROM execution_child_tokens
   WHERE (execution_child_tokens.execution_id = total_ai_tokens.execution);
END;

CREATE OR REPLACE FUNCTION public.audit_entry_is_dropped(entry bigint)
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN (EXISTS (SELECT FROM (audit_seals s JOIN audit_chains c USING (organisation_id)) WHERE ((s.entry_id = audit_entry_is_dropped.entry) AND (s."position" <= c.dropped))));

CREATE OR REPLACE FUNCTION public.present_id(organisation_id bigint, kind text, id bigint)
 RETURNS bigint
 LANGUAGE sql
 STABLE
RETURN (id + COALESCE((SELECT f.shift FROM former_ids f WHERE ((f.organisation_id = present_id.organisation_id) AND (f.kind = present_id.kind) AND ((present_id.id >= f.first_id) AND (present_id.id <= f.last_id)))), (0)::bigint));

ALTER TABLE ai_memories ADD CONSTRAINT ai_memories_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE ai_memories ADD CONSTRAINT ai_memories_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE alert_failing_workflows ADD CONSTRAINT alert_failing_workflows_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES alert_rules(id) ON DELETE CASCADE;

ALTER TABLE alert_failing_workflows ADD CONSTRAINT alert_failing_workflows_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE alert_incidents ADD CONSTRAINT alert_incidents_message_id_fkey FOREIGN KEY (message_id) REFERENCES alert_messages(id) ON DELETE CASCADE;

ALTER TABLE alert_incidents ADD CONSTRAINT alert_incidents_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE alert_incidents ADD CONSTRAINT alert_incidents_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES alert_rules(id) ON DELETE SET NULL;

ALTER TABLE alert_marks ADD CONSTRAINT alert_marks_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES alert_rules(id) ON DELETE CASCADE;

ALTER TABLE alert_messages ADD CONSTRAINT alert_messages_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE alert_messages ADD CONSTRAINT alert_messages_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES alert_rules(id) ON DELETE SET NULL;

ALTER TABLE alert_rules ADD CONSTRAINT alert_rules_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE alert_rules ADD CONSTRAINT alert_rules_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE api_keys ADD CONSTRAINT api_keys_issued_by_fkey FOREIGN KEY (issued_by) REFERENCES members(id);

ALTER TABLE api_keys ADD CONSTRAINT api_keys_issued_by_user_fkey FOREIGN KEY (issued_by_user) REFERENCES users(id);

ALTER TABLE api_keys ADD CONSTRAINT api_keys_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE audit_chains ADD CONSTRAINT audit_chains_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE audit_log ADD CONSTRAINT audit_log_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE chat_sessions ADD CONSTRAINT chat_sessions_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE chat_sessions ADD CONSTRAINT chat_sessions_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE chat_turns ADD CONSTRAINT chat_turns_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE chat_turns ADD CONSTRAINT chat_turns_workflow_id_session_hash_fkey FOREIGN KEY (workflow_id, session_hash) REFERENCES chat_sessions(workflow_id, session_hash) ON DELETE CASCADE;

ALTER TABLE credential_connections ADD CONSTRAINT credential_connections_credential_id_fkey FOREIGN KEY (credential_id) REFERENCES credentials(id) ON DELETE CASCADE;

ALTER TABLE credential_connections ADD CONSTRAINT credential_connections_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE credential_connections ADD CONSTRAINT credential_connections_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;

ALTER TABLE credential_grants ADD CONSTRAINT credential_grants_credential_id_fkey FOREIGN KEY (credential_id) REFERENCES credentials(id) ON DELETE CASCADE;

ALTER TABLE credential_grants ADD CONSTRAINT credential_grants_key_id_fkey FOREIGN KEY (key_id) REFERENCES secret_keys(id);

ALTER TABLE credential_grants ADD CONSTRAINT credential_grants_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE credentials ADD CONSTRAINT credentials_created_by_fkey FOREIGN KEY (created_by) REFERENCES members(id) ON DELETE SET NULL;

ALTER TABLE credentials ADD CONSTRAINT credentials_key_id_fkey FOREIGN KEY (key_id) REFERENCES secret_keys(id);

ALTER TABLE credentials ADD CONSTRAINT credentials_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE data_entries ADD CONSTRAINT data_entries_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE data_usage ADD CONSTRAINT data_usage_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE data_writes ADD CONSTRAINT data_writes_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE execution_child_tokens ADD CONSTRAINT execution_child_tokens_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE execution_files ADD CONSTRAINT execution_files_file_id_fkey FOREIGN KEY (file_id) REFERENCES files(id);

ALTER TABLE execution_views ADD CONSTRAINT execution_views_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE execution_views ADD CONSTRAINT execution_views_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE executions ADD CONSTRAINT executions_workflow_id_workflow_version_fkey FOREIGN KEY (workflow_id, workflow_version) REFERENCES workflow_versions(workflow_id, version) ON DELETE CASCADE;

ALTER TABLE former_ids ADD CONSTRAINT former_ids_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE former_key_uses ADD CONSTRAINT former_key_uses_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id) ON DELETE CASCADE;

ALTER TABLE former_key_uses ADD CONSTRAINT former_key_uses_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE former_webhook_hashes ADD CONSTRAINT former_webhook_hashes_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE former_webhook_hashes ADD CONSTRAINT former_webhook_hashes_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE held_starts ADD CONSTRAINT held_starts_workflow_id_key_hash_fkey FOREIGN KEY (workflow_id, key_hash) REFERENCES start_rates(workflow_id, key_hash) ON DELETE CASCADE;

ALTER TABLE idempotency_records ADD CONSTRAINT idempotency_records_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE invitations ADD CONSTRAINT invitations_accepted_by_fkey FOREIGN KEY (accepted_by) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE invitations ADD CONSTRAINT invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE invitations ADD CONSTRAINT invitations_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE members ADD CONSTRAINT members_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE organisation_settings ADD CONSTRAINT organisation_settings_error_workflow_id_fkey FOREIGN KEY (error_workflow_id) REFERENCES workflows(id) ON DELETE SET NULL;

ALTER TABLE organisation_settings ADD CONSTRAINT organisation_settings_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE own_connector_revisions ADD CONSTRAINT own_connector_revisions_organisation_id_name_fkey FOREIGN KEY (organisation_id, name) REFERENCES own_connectors(organisation_id, name) ON DELETE CASCADE;

ALTER TABLE own_connector_revisions ADD CONSTRAINT own_connector_revisions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE own_connectors ADD CONSTRAINT own_connectors_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE pinned_outputs ADD CONSTRAINT pinned_outputs_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE pinned_outputs ADD CONSTRAINT pinned_outputs_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE pinned_outputs ADD CONSTRAINT pinned_outputs_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE polled_items ADD CONSTRAINT polled_items_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE polled_items ADD CONSTRAINT polled_items_workflow_id_node_id_fkey FOREIGN KEY (workflow_id, node_id) REFERENCES polls(workflow_id, node_id) ON DELETE CASCADE;

ALTER TABLE polls ADD CONSTRAINT polls_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE polls ADD CONSTRAINT polls_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE recovery_codes ADD CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE sample_listeners ADD CONSTRAINT sample_listeners_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE sample_listeners ADD CONSTRAINT sample_listeners_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE sample_listeners ADD CONSTRAINT sample_listeners_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE schedule_fires ADD CONSTRAINT schedule_fires_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE schedule_fires ADD CONSTRAINT schedule_fires_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE schedules ADD CONSTRAINT schedules_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE schedules ADD CONSTRAINT schedules_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE sessions ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE start_debounces ADD CONSTRAINT start_debounces_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE start_rates ADD CONSTRAINT start_rates_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE storage_usage ADD CONSTRAINT storage_usage_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE users ADD CONSTRAINT users_totp_key_id_fkey FOREIGN KEY (totp_key_id) REFERENCES secret_keys(id);

ALTER TABLE vector_collections ADD CONSTRAINT vector_collections_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE vector_embeddings ADD CONSTRAINT vector_embeddings_organisation_id_collection_key_fkey FOREIGN KEY (organisation_id, collection, key) REFERENCES vector_items(organisation_id, collection, key) ON DELETE CASCADE;

ALTER TABLE vector_indexes ADD CONSTRAINT vector_indexes_organisation_id_collection_fkey FOREIGN KEY (organisation_id, collection) REFERENCES vector_collections(organisation_id, name) ON DELETE CASCADE;

ALTER TABLE vector_items ADD CONSTRAINT vector_items_organisation_id_collection_fkey FOREIGN KEY (organisation_id, collection) REFERENCES vector_collections(organisation_id, name) ON DELETE CASCADE;

ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE workflow_connectors ADD CONSTRAINT workflow_connectors_organisation_id_name_revision_fkey FOREIGN KEY (organisation_id, name, revision) REFERENCES own_connector_revisions(organisation_id, name, revision) ON DELETE CASCADE;

ALTER TABLE workflow_connectors ADD CONSTRAINT workflow_connectors_workflow_id_version_fkey FOREIGN KEY (workflow_id, version) REFERENCES workflow_versions(workflow_id, version) ON DELETE CASCADE;

ALTER TABLE workflow_drafts ADD CONSTRAINT workflow_drafts_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE workflow_drafts ADD CONSTRAINT workflow_drafts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE workflow_drafts ADD CONSTRAINT workflow_drafts_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE workflow_favourites ADD CONSTRAINT workflow_favourites_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE workflow_favourites ADD CONSTRAINT workflow_favourites_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE workflow_favourites ADD CONSTRAINT workflow_favourites_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE workflow_folders ADD CONSTRAINT workflow_folders_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE workflow_folders ADD CONSTRAINT workflow_folders_parent_fkey FOREIGN KEY (organisation_id, parent_id, parent_is_nested) REFERENCES workflow_folders(organisation_id, id, is_nested) ON DELETE CASCADE;

ALTER TABLE workflow_runs ADD CONSTRAINT workflow_runs_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE workflow_samples ADD CONSTRAINT workflow_samples_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE workflow_samples ADD CONSTRAINT workflow_samples_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE workflow_versions ADD CONSTRAINT workflow_versions_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id) ON DELETE SET NULL;

ALTER TABLE workflow_versions ADD CONSTRAINT workflow_versions_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

ALTER TABLE workflow_versions ADD CONSTRAINT workflow_versions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE workflow_versions ADD CONSTRAINT workflow_versions_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;

ALTER TABLE workflows ADD CONSTRAINT workflows_folder_fkey FOREIGN KEY (organisation_id, folder_id) REFERENCES workflow_folders(organisation_id, id) ON DELETE SET NULL (folder_id);

ALTER TABLE workflows ADD CONSTRAINT workflows_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(id) ON DELETE CASCADE;

CREATE INDEX ai_memories_by_expiry ON public.ai_memories USING btree (expires_at);

CREATE INDEX ai_memories_of_organisation ON public.ai_memories USING btree (organisation_id, updated_at);

CREATE INDEX alert_failing_workflows_by_workflow ON public.alert_failing_workflows USING btree (workflow_id);

CREATE INDEX alert_incidents_by_message ON public.alert_incidents USING btree (message_id) WHERE (message_id IS NOT NULL);

CREATE INDEX alert_incidents_by_rule ON public.alert_incidents USING btree (rule_id);

CREATE UNIQUE INDEX alert_incidents_untold ON public.alert_incidents USING btree (rule_id, subject) WHERE (message_id IS NULL);

CREATE INDEX alert_marks_by_age ON public.alert_marks USING btree (created_at);

CREATE INDEX alert_messages_by_age ON public.alert_messages USING btree (created_at);

CREATE INDEX alert_messages_by_organisation ON public.alert_messages USING btree (organisation_id, id);

CREATE INDEX alert_messages_by_time ON public.alert_messages USING btree (organisation_id, created_at);

CREATE INDEX alert_messages_claimed ON public.alert_messages USING btree (organisation_id, claimed_until) WHERE (status = 'pending'::text);

CREATE INDEX alert_messages_due ON public.alert_messages USING btree (due_at) WHERE (status = 'pending'::text);

CREATE INDEX alert_rules_by_organisation ON public.alert_rules USING btree (organisation_id, id);

CREATE INDEX alert_rules_by_workflow ON public.alert_rules USING btree (workflow_id) WHERE (workflow_id IS NOT NULL);

CREATE INDEX alert_rules_to_check ON public.alert_rules USING btree (next_check_at) WHERE (is_enabled AND (kind = ANY (ARRAY['recovered'::text, 'slow'::text, 'silent'::text, 'expiring'::text])));

CREATE INDEX api_keys_by_issuer ON public.api_keys USING btree (issued_by_user) WHERE (issued_by_user IS NOT NULL);

CREATE INDEX api_keys_by_organisation ON public.api_keys USING btree (organisation_id, id);

CREATE INDEX audit_log_by_action ON public.audit_log USING btree (organisation_id, action, id);

CREATE INDEX audit_log_by_age ON public.audit_log USING btree (occurred_at);

CREATE INDEX audit_log_by_organisation ON public.audit_log USING btree (organisation_id, id);

CREATE INDEX audit_log_by_time ON public.audit_log USING btree (organisation_id, occurred_at);

CREATE UNIQUE INDEX audit_log_repeated ON public.audit_log USING btree (organisation_id, repeat_key) WHERE (repeat_key IS NOT NULL);

CREATE INDEX audit_pending_by_time ON public.audit_pending USING btree (sealable_at, entry_id);

CREATE INDEX callbacks_by_execution ON public.callbacks USING btree (execution_id);

CREATE INDEX callbacks_decided_approvals ON public.callbacks USING btree (organisation_id, id) WHERE ((kind = 'approval'::text) AND (used_at IS NOT NULL));

CREATE INDEX callbacks_pending_approvals ON public.callbacks USING btree (organisation_id, id) WHERE ((kind = 'approval'::text) AND (used_at IS NULL));

CREATE INDEX chat_sessions_by_age ON public.chat_sessions USING btree (last_at);

CREATE INDEX chat_sessions_by_start ON public.chat_sessions USING btree (workflow_id, created_at);

CREATE INDEX chat_streams_by_age ON public.chat_streams USING btree (written_at);

CREATE INDEX chat_turns_by_execution ON public.chat_turns USING btree (execution_id);

CREATE INDEX credential_connections_by_credential ON public.credential_connections USING btree (credential_id);

CREATE INDEX credential_connections_by_session ON public.credential_connections USING btree (session_id);

CREATE INDEX credential_grants_by_key ON public.credential_grants USING btree (key_id, credential_id);

CREATE INDEX credentials_by_key ON public.credentials USING btree (key_id, id);

CREATE INDEX data_entries_by_expiry ON public.data_entries USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX data_writes_by_age ON public.data_writes USING btree (created_at);

CREATE INDEX execution_files_by_file ON public.execution_files USING btree (file_id);

CREATE INDEX execution_views_by_user ON public.execution_views USING btree (user_id);

CREATE INDEX execution_views_shared ON public.execution_views USING btree (organisation_id) WHERE is_shared;

CREATE INDEX executions_by_creation ON public.executions USING btree (organisation_id, created_at);

CREATE INDEX executions_by_key ON public.executions USING btree (api_key_id, id) WHERE (api_key_id IS NOT NULL);

CREATE INDEX executions_by_organisation ON public.executions USING btree (organisation_id, id);

CREATE INDEX executions_by_status ON public.executions USING btree (organisation_id, status, id) WHERE (status <> 'completed'::text);

CREATE INDEX executions_by_trigger ON public.executions USING btree (organisation_id, trigger_type, id) WHERE (trigger_type <> ALL (ARRAY['api'::text, 'webhook'::text]));

CREATE INDEX executions_by_workflow ON public.executions USING btree (workflow_id, id);

CREATE UNIQUE INDEX executions_children ON public.executions USING btree (parent_execution_id, parent_call) WHERE (parent_execution_id IS NOT NULL);

CREATE INDEX executions_crashed ON public.executions USING btree (id) WHERE ((crashed_attempts > 0) AND (completed_at IS NULL));

CREATE INDEX executions_decided ON public.executions USING btree (workflow_id, concurrency_key, id) WHERE ((completed_at IS NULL) AND (concurrency_limit IS NOT NULL) AND (on_limit IS NULL));

CREATE INDEX executions_failed_by_end ON public.executions USING btree (completed_at) WHERE (status = 'failed'::text);

CREATE INDEX executions_held ON public.executions USING btree (organisation_id, id) WHERE ((status = 'queued'::text) AND (held_until IS NOT NULL));

CREATE INDEX executions_in_test_mode ON public.executions USING btree (organisation_id, id) WHERE is_test_mode;

CREATE INDEX executions_limited_queued ON public.executions USING btree (workflow_id, concurrency_key, id) WHERE ((status = 'queued'::text) AND (max_concurrency IS NOT NULL) AND (on_limit IS NULL) AND (held_until IS NULL));

CREATE INDEX executions_limited_running ON public.executions USING btree (workflow_id, concurrency_key) WHERE ((status = 'running'::text) AND (max_concurrency IS NOT NULL));

CREATE INDEX executions_limited_waiting ON public.executions USING btree (workflow_id, wake_at) WHERE ((status = 'waiting_async'::text) AND (max_concurrency IS NOT NULL));

CREATE INDEX executions_of_workflow_by_status ON public.executions USING btree (workflow_id, status, id) WHERE (status <> 'running'::text);

CREATE INDEX executions_queued ON public.executions USING btree (organisation_id, priority DESC, id) WHERE ((status = 'queued'::text) AND (max_concurrency IS NULL) AND (held_until IS NULL));

CREATE INDEX executions_reruns ON public.executions USING btree (rerun_of) WHERE (rerun_of IS NOT NULL);

CREATE INDEX executions_running ON public.executions USING btree (worker_id) WHERE (status = 'running'::text);

CREATE INDEX executions_trials ON public.executions USING btree (workflow_id, workflow_version) WHERE (workflow_version < 0);

CREATE INDEX executions_undecided ON public.executions USING btree (workflow_id, id) WHERE ((status = 'queued'::text) AND (on_limit IS NOT NULL) AND (held_until IS NULL));

CREATE INDEX executions_waiting ON public.executions USING btree (wake_at) WHERE ((status = 'waiting_async'::text) AND (max_concurrency IS NULL));

CREATE INDEX executions_waiting_by_organisation ON public.executions USING btree (organisation_id, wake_at) WHERE ((status = 'waiting_async'::text) AND (max_concurrency IS NULL));

CREATE INDEX files_to_sweep ON public.files USING btree (sweep_at) WHERE (sweep_at IS NOT NULL);

CREATE INDEX former_webhook_hashes_by_age ON public.former_webhook_hashes USING btree (valid_until);

CREATE INDEX former_webhook_hashes_by_workflow ON public.former_webhook_hashes USING btree (workflow_id);

CREATE INDEX idempotency_records_by_age ON public.idempotency_records USING btree (created_at);

CREATE INDEX invitations_by_age ON public.invitations USING btree (expires_at);

CREATE INDEX invitations_by_email ON public.invitations USING btree (email) WHERE ((accepted_at IS NULL) AND (revoked_at IS NULL));

CREATE INDEX invitations_by_organisation ON public.invitations USING btree (organisation_id, id);

CREATE INDEX members_by_email ON public.members USING btree (email) WHERE (removed_at IS NULL);

CREATE UNIQUE INDEX members_present_email ON public.members USING btree (organisation_id, email) WHERE (removed_at IS NULL);

CREATE INDEX organisations_paused ON public.organisations USING btree (id) WHERE (paused_at IS NOT NULL);

CREATE INDEX organisations_with_own_limits ON public.organisations USING btree (id) WHERE ((queue_limit IS NOT NULL) OR (executions_storage_bytes IS NOT NULL) OR (data_storage_bytes IS NOT NULL));

CREATE INDEX organisations_with_own_share ON public.organisations USING btree (id) WHERE ((slot_weight <> 1) OR (slot_cap_percent <> 100));

CREATE INDEX polled_items_by_age ON public.polled_items USING btree (seen_at);

CREATE INDEX polls_due ON public.polls USING btree (next_poll_at) WHERE (next_poll_at IS NOT NULL);

CREATE INDEX sample_listeners_by_age ON public.sample_listeners USING btree (expires_at);

CREATE INDEX schedule_fires_by_age ON public.schedule_fires USING btree (recorded_at);

CREATE INDEX schedule_fires_open ON public.schedule_fires USING btree (workflow_id) WHERE is_open;

CREATE INDEX schedule_fires_queued ON public.schedule_fires USING btree (workflow_id, fire_time) WHERE (outcome = 'queued'::text);

CREATE INDEX schedules_due ON public.schedules USING btree (next_fire_at) WHERE (next_fire_at IS NOT NULL);

CREATE UNIQUE INDEX secret_keys_one_current ON public.secret_keys USING btree (state) WHERE (state = 'current'::text);

CREATE INDEX sessions_by_age ON public.sessions USING btree (expires_at);

CREATE INDEX sessions_by_user ON public.sessions USING btree (user_id, id);

CREATE INDEX start_debounces_due ON public.start_debounces USING btree (due_at);

CREATE INDEX start_rates_due ON public.start_rates USING btree (due_at) WHERE (waiting > 0);

CREATE INDEX start_rates_idle ON public.start_rates USING btree (due_at) WHERE (waiting = 0);

CREATE UNIQUE INDEX users_by_email ON public.users USING btree (email) WHERE (removed_at IS NULL);

CREATE INDEX webhook_deliveries_by_age ON public.webhook_deliveries USING btree (expires_at);

CREATE INDEX workflow_connectors_by_revision ON public.workflow_connectors USING btree (organisation_id, name, revision);

CREATE INDEX workflow_favourites_by_organisation ON public.workflow_favourites USING btree (organisation_id);

CREATE INDEX workflow_favourites_by_workflow ON public.workflow_favourites USING btree (workflow_id);

CREATE INDEX workflow_runs_by_age ON public.workflow_runs USING btree (hour);

CREATE INDEX workflow_versions_trials ON public.workflow_versions USING btree (created_at) WHERE (version < 0);

CREATE INDEX workflows_by_organisation ON public.workflows USING btree (organisation_id, id);

CREATE INDEX workflows_by_status ON public.workflows USING btree (organisation_id, status, id);

CREATE INDEX workflows_folder_by_change ON public.workflows USING btree (organisation_id, folder_id, is_archived, updated_at, id);

CREATE INDEX workflows_folder_by_id ON public.workflows USING btree (organisation_id, folder_id, is_archived, id);

CREATE INDEX workflows_folder_by_name ON public.workflows USING btree (organisation_id, folder_id, is_archived, name_key, id);

CREATE INDEX workflows_folder_by_run ON public.workflows USING btree (organisation_id, folder_id, is_archived, last_execution_id, id);

CREATE INDEX workflows_from_templates ON public.workflows USING btree (organisation_id, template_id) WHERE (template_id IS NOT NULL);

CREATE INDEX workflows_list_by_change ON public.workflows USING btree (organisation_id, is_archived, updated_at, id);

CREATE INDEX workflows_list_by_id ON public.workflows USING btree (organisation_id, is_archived, id);

CREATE INDEX workflows_list_by_name ON public.workflows USING btree (organisation_id, is_archived, name_key, id);

CREATE INDEX workflows_list_by_run ON public.workflows USING btree (organisation_id, is_archived, last_execution_id, id);

CREATE TRIGGER api_keys_note_permit_change AFTER UPDATE ON public.api_keys FOR EACH ROW WHEN (((old.organisation_id <> new.organisation_id) OR (old.scopes <> new.scopes) OR (old.issued_by IS DISTINCT FROM new.issued_by) OR (old.issued_by_user IS DISTINCT FROM new.issued_by_user) OR (old.expires_at IS DISTINCT FROM new.expires_at) OR (old.rotated_at IS DISTINCT FROM new.rotated_at) OR (old.revoked_at IS DISTINCT FROM new.revoked_at) OR (old.locked_at IS DISTINCT FROM new.locked_at) OR ((old.consecutive_failures = 0) AND (new.consecutive_failures > 0)))) EXECUTE FUNCTION note_permit_change();

CREATE TRIGGER api_keys_note_permit_end AFTER DELETE ON public.api_keys FOR EACH ROW EXECUTE FUNCTION note_permit_change();

CREATE TRIGGER audit_chains_keep BEFORE TRUNCATE ON public.audit_chains FOR EACH STATEMENT EXECUTE FUNCTION protect_audit_tables();

CREATE TRIGGER audit_chains_protect BEFORE DELETE OR UPDATE ON public.audit_chains FOR EACH ROW EXECUTE FUNCTION protect_audit_chain();

CREATE TRIGGER audit_log_keep BEFORE TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION protect_audit_tables();

CREATE TRIGGER audit_log_protect BEFORE DELETE OR UPDATE ON public.audit_log FOR EACH ROW EXECUTE FUNCTION protect_audit_entry();

CREATE TRIGGER audit_log_queue AFTER INSERT ON public.audit_log REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION queue_audit_entries();

CREATE TRIGGER audit_seals_keep BEFORE TRUNCATE ON public.audit_seals FOR EACH STATEMENT EXECUTE FUNCTION protect_audit_tables();

CREATE TRIGGER audit_seals_protect BEFORE DELETE OR UPDATE ON public.audit_seals FOR EACH ROW EXECUTE FUNCTION protect_audit_seal();

CREATE TRIGGER data_entries_count_delete AFTER DELETE ON public.data_entries REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_data_entries();

CREATE TRIGGER data_entries_count_insert AFTER INSERT ON public.data_entries REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_data_entries();

CREATE TRIGGER data_entries_count_update AFTER UPDATE ON public.data_entries REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_data_bytes();

CREATE TRIGGER executions_count_child_tokens AFTER UPDATE ON public.executions FOR EACH ROW WHEN (((new.completed_at IS NOT NULL) AND (old.completed_at IS NULL) AND (new.parent_execution_id IS NOT NULL) AND (new.consumed_ai_tokens > 0))) EXECUTE FUNCTION count_child_tokens();

CREATE TRIGGER executions_forget_child_tokens AFTER DELETE ON public.executions REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_child_tokens();

CREATE TRIGGER executions_forget_files AFTER DELETE ON public.executions REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_files();

CREATE TRIGGER executions_forget_records AFTER DELETE ON public.executions REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_records();

CREATE TRIGGER executions_forget_search_keys AFTER DELETE ON public.executions REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_search_keys();

CREATE TRIGGER executions_give_files AFTER INSERT ON public.executions FOR EACH ROW WHEN ((new.given_files IS NOT NULL)) EXECUTE FUNCTION give_files();

CREATE TRIGGER executions_guard_status BEFORE UPDATE ON public.executions FOR EACH ROW WHEN ((old.status <> 'running'::text)) EXECUTE FUNCTION guard_execution_status();

CREATE TRIGGER executions_index_search_keys AFTER INSERT ON public.executions FOR EACH ROW WHEN ((new.search_keys IS NOT NULL)) EXECUTE FUNCTION index_search_keys();

CREATE TRIGGER executions_leave_follow_ups AFTER UPDATE ON public.executions FOR EACH ROW WHEN (((new.completed_at IS NOT NULL) AND (old.completed_at IS NULL) AND (new.parent_waits OR new.has_waited_children OR (new.error_workflow_id IS NOT NULL) OR (new.status = 'failed'::text) OR ((new.completed_at - new.started_at) > '00:00:01'::interval)))) EXECUTE FUNCTION leave_follow_ups();

CREATE TRIGGER executions_leave_follow_ups_at_once AFTER INSERT ON public.executions FOR EACH ROW WHEN (((new.completed_at IS NOT NULL) AND ((new.error_workflow_id IS NOT NULL) OR (new.status = 'failed'::text)))) EXECUTE FUNCTION leave_follow_ups();

CREATE TRIGGER executions_note_deleted_bytes AFTER DELETE ON public.executions REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_deleted_bytes();

CREATE TRIGGER files_count AFTER INSERT OR DELETE ON public.files FOR EACH ROW EXECUTE FUNCTION count_files();

CREATE TRIGGER files_count_update AFTER UPDATE ON public.files FOR EACH ROW WHEN ((new.size <> old.size)) EXECUTE FUNCTION count_files();

CREATE TRIGGER former_ids_note_permit_change AFTER INSERT OR DELETE OR UPDATE ON public.former_ids FOR EACH ROW EXECUTE FUNCTION note_permit_change();

CREATE TRIGGER members_note_permit_change AFTER UPDATE ON public.members FOR EACH ROW WHEN (((old.organisation_id <> new.organisation_id) OR (old.email <> new.email) OR (old.role <> new.role) OR (old.removed_at IS DISTINCT FROM new.removed_at))) EXECUTE FUNCTION note_permit_change_everywhere();

CREATE TRIGGER members_note_permit_end AFTER DELETE ON public.members FOR EACH ROW EXECUTE FUNCTION note_permit_change_everywhere();

CREATE TRIGGER organisation_settings_note_permit_begin AFTER INSERT ON public.organisation_settings FOR EACH ROW WHEN ((new.requests_per_minute IS NOT NULL)) EXECUTE FUNCTION note_permit_change();

CREATE TRIGGER organisation_settings_note_permit_change AFTER UPDATE ON public.organisation_settings FOR EACH ROW WHEN ((old.requests_per_minute IS DISTINCT FROM new.requests_per_minute)) EXECUTE FUNCTION note_permit_change();

CREATE TRIGGER organisation_settings_note_permit_end AFTER DELETE ON public.organisation_settings FOR EACH ROW EXECUTE FUNCTION note_permit_change();

CREATE TRIGGER users_note_permit_change AFTER UPDATE ON public.users FOR EACH ROW WHEN (((old.email <> new.email) OR (old.removed_at IS DISTINCT FROM new.removed_at))) EXECUTE FUNCTION note_permit_change_everywhere();

CREATE TRIGGER users_note_permit_end AFTER DELETE ON public.users FOR EACH ROW EXECUTE FUNCTION note_permit_change_everywhere();

CREATE TRIGGER vector_items_count_delete AFTER DELETE ON public.vector_items REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION count_vector_bytes();

CREATE TRIGGER vector_items_count_insert AFTER INSERT ON public.vector_items REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_vector_bytes();

CREATE TRIGGER vector_items_count_update AFTER UPDATE ON public.vector_items REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_vector_bytes();

CREATE TRIGGER workflows_note_permit_change AFTER UPDATE ON public.workflows FOR EACH ROW WHEN (((old.organisation_id <> new.organisation_id) OR (old.name <> new.name) OR (old.status <> new.status) OR (old.version <> new.version) OR (old.is_test_mode <> new.is_test_mode))) EXECUTE FUNCTION note_permit_change();

CREATE TRIGGER workflows_note_permit_end AFTER DELETE ON public.workflows FOR EACH ROW EXECUTE FUNCTION note_permit_change();

ALTER TABLE ai_memories ENABLE ROW LEVEL SECURITY;

ALTER TABLE ai_memories FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON ai_memories AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE alert_failing_workflows ENABLE ROW LEVEL SECURITY;

ALTER TABLE alert_failing_workflows FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON alert_failing_workflows AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE alert_incidents ENABLE ROW LEVEL SECURITY;

ALTER TABLE alert_incidents FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON alert_incidents AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE alert_marks ENABLE ROW LEVEL SECURITY;

ALTER TABLE alert_marks FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON alert_marks AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE alert_messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE alert_messages FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON alert_messages AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE alert_rules ENABLE ROW LEVEL SECURITY;

ALTER TABLE alert_rules FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON alert_rules AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON api_keys AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE audit_chains ENABLE ROW LEVEL SECURITY;

ALTER TABLE audit_chains FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON audit_chains AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE audit_log FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON audit_log AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE audit_pending ENABLE ROW LEVEL SECURITY;

ALTER TABLE audit_pending FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON audit_pending AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE audit_seals ENABLE ROW LEVEL SECURITY;

ALTER TABLE audit_seals FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON audit_seals AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE callbacks ENABLE ROW LEVEL SECURITY;

ALTER TABLE callbacks FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON callbacks AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE chat_sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE chat_sessions FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON chat_sessions AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE chat_streams ENABLE ROW LEVEL SECURITY;

ALTER TABLE chat_streams FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON chat_streams AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE chat_turns ENABLE ROW LEVEL SECURITY;

ALTER TABLE chat_turns FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON chat_turns AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE credential_connections ENABLE ROW LEVEL SECURITY;

ALTER TABLE credential_connections FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON credential_connections AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE credential_grants ENABLE ROW LEVEL SECURITY;

ALTER TABLE credential_grants FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON credential_grants AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE credentials ENABLE ROW LEVEL SECURITY;

ALTER TABLE credentials FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON credentials AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE data_entries ENABLE ROW LEVEL SECURITY;

ALTER TABLE data_entries FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON data_entries AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE data_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE data_usage FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON data_usage AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE data_writes ENABLE ROW LEVEL SECURITY;

ALTER TABLE data_writes FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON data_writes AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE execution_checkpoints ENABLE ROW LEVEL SECURITY;

ALTER TABLE execution_checkpoints FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON execution_checkpoints AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE execution_child_tokens ENABLE ROW LEVEL SECURITY;

ALTER TABLE execution_child_tokens FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON execution_child_tokens AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE execution_files ENABLE ROW LEVEL SECURITY;

ALTER TABLE execution_files FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON execution_files AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE execution_follow_ups ENABLE ROW LEVEL SECURITY;

ALTER TABLE execution_follow_ups FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON execution_follow_ups AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE execution_search_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE execution_search_keys FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON execution_search_keys AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE execution_signals ENABLE ROW LEVEL SECURITY;

ALTER TABLE execution_signals FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON execution_signals AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE execution_views ENABLE ROW LEVEL SECURITY;

ALTER TABLE execution_views FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON execution_views AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE executions ENABLE ROW LEVEL SECURITY;

ALTER TABLE executions FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON executions AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE file_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE file_usage FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON file_usage AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE files ENABLE ROW LEVEL SECURITY;

ALTER TABLE files FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON files AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE former_ids ENABLE ROW LEVEL SECURITY;

ALTER TABLE former_ids FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON former_ids AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE former_key_uses ENABLE ROW LEVEL SECURITY;

ALTER TABLE former_key_uses FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON former_key_uses AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE former_webhook_hashes ENABLE ROW LEVEL SECURITY;

ALTER TABLE former_webhook_hashes FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON former_webhook_hashes AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE held_starts ENABLE ROW LEVEL SECURITY;

ALTER TABLE held_starts FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON held_starts AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE idempotency_records ENABLE ROW LEVEL SECURITY;

ALTER TABLE idempotency_records FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON idempotency_records AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE invitations ENABLE ROW LEVEL SECURITY;

ALTER TABLE invitations FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON invitations AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE members ENABLE ROW LEVEL SECURITY;

ALTER TABLE members FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON members AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE organisation_settings ENABLE ROW LEVEL SECURITY;

ALTER TABLE organisation_settings FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON organisation_settings AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE own_connector_revisions ENABLE ROW LEVEL SECURITY;

ALTER TABLE own_connector_revisions FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON own_connector_revisions AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE own_connectors ENABLE ROW LEVEL SECURITY;

ALTER TABLE own_connectors FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON own_connectors AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE permit_changes ENABLE ROW LEVEL SECURITY;

ALTER TABLE permit_changes FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON permit_changes AS PERMISSIVE FOR ALL TO public USING (((organisation_id = 0) OR organisation_visible(organisation_id)));

ALTER TABLE pinned_outputs ENABLE ROW LEVEL SECURITY;

ALTER TABLE pinned_outputs FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON pinned_outputs AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE polled_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE polled_items FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON polled_items AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE polls ENABLE ROW LEVEL SECURITY;

ALTER TABLE polls FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON polls AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE sample_listeners ENABLE ROW LEVEL SECURITY;

ALTER TABLE sample_listeners FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON sample_listeners AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE schedule_fires ENABLE ROW LEVEL SECURITY;

ALTER TABLE schedule_fires FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON schedule_fires AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE schedules ENABLE ROW LEVEL SECURITY;

ALTER TABLE schedules FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON schedules AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE start_debounces ENABLE ROW LEVEL SECURITY;

ALTER TABLE start_debounces FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON start_debounces AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE start_rates ENABLE ROW LEVEL SECURITY;

ALTER TABLE start_rates FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON start_rates AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE storage_changes ENABLE ROW LEVEL SECURITY;

ALTER TABLE storage_changes FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON storage_changes AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE storage_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE storage_usage FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON storage_usage AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE vector_collections ENABLE ROW LEVEL SECURITY;

ALTER TABLE vector_collections FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON vector_collections AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE vector_embeddings ENABLE ROW LEVEL SECURITY;

ALTER TABLE vector_embeddings FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON vector_embeddings AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE vector_indexes ENABLE ROW LEVEL SECURITY;

ALTER TABLE vector_indexes FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON vector_indexes AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE vector_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE vector_items FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON vector_items AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;

ALTER TABLE webhook_deliveries FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON webhook_deliveries AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE workflow_connectors ENABLE ROW LEVEL SECURITY;

ALTER TABLE workflow_connectors FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON workflow_connectors AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE workflow_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE workflow_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON workflow_drafts AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE workflow_favourites ENABLE ROW LEVEL SECURITY;

ALTER TABLE workflow_favourites FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON workflow_favourites AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE workflow_folders ENABLE ROW LEVEL SECURITY;

ALTER TABLE workflow_folders FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON workflow_folders AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE workflow_runs ENABLE ROW LEVEL SECURITY;

ALTER TABLE workflow_runs FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON workflow_runs AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE workflow_samples ENABLE ROW LEVEL SECURITY;

ALTER TABLE workflow_samples FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON workflow_samples AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE workflow_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE workflow_versions FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON workflow_versions AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));

ALTER TABLE workflows ENABLE ROW LEVEL SECURITY;

ALTER TABLE workflows FORCE ROW LEVEL SECURITY;

CREATE POLICY organisation ON workflows AS PERMISSIVE FOR ALL TO public USING (organisation_visible(organisation_id));
