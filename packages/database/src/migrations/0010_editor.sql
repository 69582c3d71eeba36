-- What the editor keeps (ADR 0014): drafts, trials, samples, and who saved a version and why.

-- Of what somebody has changed of a workflow and not saved. Never read by triggers or by the public API.
CREATE TABLE workflow_drafts (
  workflow_id bigint NOT NULL REFERENCES workflows ON DELETE CASCADE,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  -- json, like the flows of versions: saving must find it as it was sent.
  flow_data json NOT NULL,
  base_version integer NOT NULL CHECK (base_version >= 1),
  -- Never the same twice, so that a tab cannot take a new draft for the one it knew.
  revision bigint NOT NULL CHECK (revision >= 1),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
  PRIMARY KEY (workflow_id, user_id)
);
CREATE SEQUENCE draft_revisions AS bigint;

-- The flow of a trial stands among the versions, so that executions are pinned to it like to any other. Its number is
-- below 0; `workflows.version` stays at least 1, so none can become the saved one.
CREATE SEQUENCE trial_versions AS integer INCREMENT BY -1 START WITH -1;

ALTER TABLE workflow_versions
  ADD COLUMN user_id bigint REFERENCES users ON DELETE SET NULL,
  ADD COLUMN message text CHECK (char_length(message) BETWEEN 1 AND 1000),
  ADD COLUMN pinned boolean NOT NULL DEFAULT false,
  DROP CONSTRAINT workflow_versions_version_check,
  ADD CONSTRAINT workflow_versions_version_check CHECK (version <> 0),
  ADD CONSTRAINT workflow_versions_trial_check
    CHECK (version > 0 OR (message IS NULL AND NOT pinned AND restored_from IS NULL));

CREATE INDEX workflow_versions_trials ON workflow_versions (created_at) WHERE version < 0;
CREATE INDEX executions_trials ON executions (workflow_id, workflow_version) WHERE workflow_version < 0;

-- A workflow belongs to one organisation, so its id alone leads to the same rows; and deleting a version looks for its
-- executions by these columns, which an index that begins with the organisation does not serve.
DROP INDEX executions_by_workflow;
CREATE INDEX executions_by_workflow ON executions (workflow_id, id);

-- What the trigger was called with, kept to build the workflow with.
CREATE TABLE workflow_samples (
  workflow_id bigint PRIMARY KEY REFERENCES workflows ON DELETE CASCADE,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  revision integer NOT NULL CHECK (revision >= 1),
  source text NOT NULL CHECK (source IN ('webhook', 'manual')),
  data json NOT NULL,
  headers json,
  execution_id bigint,
  received_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
  CHECK ((source = 'webhook') = (headers IS NOT NULL)),
  CHECK ((source = 'webhook') = (execution_id IS NOT NULL))
);

-- Editors that wait for the next call of a webhook.
CREATE TABLE sample_listeners (
  workflow_id bigint NOT NULL REFERENCES workflows ON DELETE CASCADE,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (workflow_id, user_id)
);
CREATE INDEX sample_listeners_by_age ON sample_listeners (expires_at);

-- Hashes that were replaced and still work for a while.
CREATE TABLE former_webhook_hashes (
  hash text PRIMARY KEY CHECK (hash ~ '^[A-Za-z0-9_-]{43}$'),
  workflow_id bigint NOT NULL REFERENCES workflows ON DELETE CASCADE,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  valid_until timestamptz NOT NULL
);
CREATE INDEX former_webhook_hashes_by_workflow ON former_webhook_hashes (workflow_id);
CREATE INDEX former_webhook_hashes_by_age ON former_webhook_hashes (valid_until);

ALTER TABLE workflow_drafts ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_drafts FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON workflow_drafts USING (organisation_visible(organisation_id));

ALTER TABLE workflow_samples ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_samples FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON workflow_samples USING (organisation_visible(organisation_id));

ALTER TABLE sample_listeners ENABLE ROW LEVEL SECURITY;
ALTER TABLE sample_listeners FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON sample_listeners USING (organisation_visible(organisation_id));

ALTER TABLE former_webhook_hashes ENABLE ROW LEVEL SECURITY;
ALTER TABLE former_webhook_hashes FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON former_webhook_hashes USING (organisation_visible(organisation_id));
