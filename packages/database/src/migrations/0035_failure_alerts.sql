-- What an organisation wants to be told about, and how.
CREATE TABLE alert_rules (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  kind text NOT NULL CHECK (kind IN ('failure', 'failures', 'recovered', 'slow', 'silent', 'expiring')),
  -- Null: every workflow.
  workflow_id bigint REFERENCES workflows ON DELETE CASCADE,
  -- Of failures.
  threshold integer CHECK (threshold BETWEEN 2 AND 1000),
  -- Of the window of failures, of a slow execution, without a start, or before the end of a key.
  seconds bigint CHECK (seconds >= 1),
  channel text NOT NULL CHECK (channel IN ('mail', 'chat', 'webhook')),
  -- Where to: the credential's id, addresses, a URL. No secrets.
  target json NOT NULL,
  language text NOT NULL CHECK (language IN ('en', 'ja')),
  -- Between two messages.
  group_seconds integer NOT NULL CHECK (group_seconds >= 0),
  -- Minutes since midnight in the organisation's time zone.
  quiet_from smallint CHECK (quiet_from BETWEEN 0 AND 1439),
  quiet_to smallint CHECK (quiet_to BETWEEN 0 AND 1439),
  is_enabled boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When its condition began to count.
  since timestamptz NOT NULL DEFAULT now(),
  next_check_at timestamptz NOT NULL DEFAULT now(),
  next_message_at timestamptz NOT NULL DEFAULT now(),
  -- Times of the last failures, in epoch milliseconds; at most as many as the threshold.
  recent_failures json NOT NULL DEFAULT '[]',
  CHECK ((kind = 'failures') = (threshold IS NOT NULL)),
  CHECK ((kind IN ('failures', 'slow', 'silent', 'expiring')) = (seconds IS NOT NULL)),
  CHECK (kind <> 'silent' OR workflow_id IS NOT NULL),
  CHECK ((quiet_from IS NULL) = (quiet_to IS NULL))
);
CREATE INDEX alert_rules_by_organisation ON alert_rules (organisation_id, id);
CREATE INDEX alert_rules_by_workflow ON alert_rules (workflow_id) WHERE workflow_id IS NOT NULL;
CREATE INDEX alert_rules_to_check ON alert_rules (next_check_at)
  WHERE is_enabled AND kind IN ('recovered', 'slow', 'silent', 'expiring');

-- One message, sent by the process that holds its latest claim.
CREATE TABLE alert_messages (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  rule_id bigint REFERENCES alert_rules ON DELETE SET NULL,
  rule_name text NOT NULL,
  kind text NOT NULL,
  channel text NOT NULL,
  is_test boolean NOT NULL DEFAULT false,
  -- How often what it tells about happened.
  occurrences bigint NOT NULL CHECK (occurrences >= 0),
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'sent', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(),
  claim integer NOT NULL DEFAULT 0,
  claimed_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  -- Of the last attempt: {code, message}.
  error json,
  CHECK ((status = 'pending') = (ended_at IS NULL))
);
CREATE INDEX alert_messages_by_organisation ON alert_messages (organisation_id, id);
CREATE INDEX alert_messages_by_time ON alert_messages (organisation_id, created_at);
CREATE INDEX alert_messages_by_age ON alert_messages (created_at);
CREATE INDEX alert_messages_due ON alert_messages (due_at) WHERE status = 'pending';
CREATE INDEX alert_messages_claimed ON alert_messages (organisation_id, claimed_until) WHERE status = 'pending';

-- What happened, grouped by what it happened to until a message tells about it.
CREATE TABLE alert_incidents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  rule_id bigint REFERENCES alert_rules ON DELETE SET NULL,
  message_id bigint REFERENCES alert_messages ON DELETE CASCADE,
  subject text NOT NULL,
  name text NOT NULL,
  workflow_id bigint,
  -- The last one.
  execution_id bigint,
  error json,
  occurrences bigint NOT NULL CHECK (occurrences >= 1),
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX alert_incidents_untold ON alert_incidents (rule_id, subject) WHERE message_id IS NULL;
CREATE INDEX alert_incidents_by_message ON alert_incidents (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX alert_incidents_by_rule ON alert_incidents (rule_id);

-- What has been noticed by a look at the state rather than by an event, so that it is noticed once.
CREATE TABLE alert_marks (
  rule_id bigint NOT NULL REFERENCES alert_rules ON DELETE CASCADE,
  mark text NOT NULL,
  organisation_id bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (rule_id, mark)
);
CREATE INDEX alert_marks_by_age ON alert_marks (created_at);

-- Workflows that failed and have not completed since.
CREATE TABLE alert_failing_workflows (
  rule_id bigint NOT NULL REFERENCES alert_rules ON DELETE CASCADE,
  workflow_id bigint NOT NULL REFERENCES workflows ON DELETE CASCADE,
  organisation_id bigint NOT NULL,
  execution_id bigint NOT NULL,
  PRIMARY KEY (rule_id, workflow_id)
);
CREATE INDEX alert_failing_workflows_by_workflow ON alert_failing_workflows (workflow_id);

ALTER TABLE organisation_settings ADD COLUMN error_workflow_id bigint REFERENCES workflows ON DELETE SET NULL;

-- When what it holds ends, as its owner entered it.
ALTER TABLE credentials ADD COLUMN expires_at timestamptz;

ALTER TABLE execution_follow_ups DROP CONSTRAINT execution_follow_ups_kind_check;
ALTER TABLE execution_follow_ups ADD CHECK (kind IN
  ('tell_parent', 'cancel_children', 'start_error_workflow', 'start_default_error_workflow', 'check_alerts'));

-- Whoever waits for an execution hears of its end, and whoever tries out a workflow sees it: neither concerns the organisation.
CREATE OR REPLACE FUNCTION leave_follow_ups() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

DROP TRIGGER executions_leave_follow_ups ON executions;
CREATE TRIGGER executions_leave_follow_ups AFTER UPDATE ON executions
  FOR EACH ROW WHEN (NEW.completed_at IS NOT NULL AND OLD.completed_at IS NULL
    AND (NEW.parent_waits OR NEW.has_waited_children OR NEW.error_workflow_id IS NOT NULL OR NEW.status = 'failed'
      -- The shortest that a rule can call slow.
      OR NEW.completed_at - NEW.started_at > interval '1 second'))
  EXECUTE FUNCTION leave_follow_ups();

DROP TRIGGER executions_leave_follow_ups_at_once ON executions;
CREATE TRIGGER executions_leave_follow_ups_at_once AFTER INSERT ON executions
  FOR EACH ROW WHEN (NEW.completed_at IS NOT NULL AND (NEW.error_workflow_id IS NOT NULL OR NEW.status = 'failed'))
  EXECUTE FUNCTION leave_follow_ups();

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['alert_rules', 'alert_messages', 'alert_incidents', 'alert_marks', 'alert_failing_workflows'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY organisation ON %I USING (organisation_visible(organisation_id))', t);
  END LOOP;
END $$;
