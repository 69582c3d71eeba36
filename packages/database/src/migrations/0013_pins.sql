-- Outputs that somebody has pinned to try single nodes with. Theirs alone, like their draft: never read by triggers or by
-- the public API, and kept when the draft becomes a version.
CREATE TABLE pinned_outputs (
  workflow_id bigint NOT NULL REFERENCES workflows ON DELETE CASCADE,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  node_id text NOT NULL CHECK (char_length(node_id) BETWEEN 1 AND 1000),
  -- json, like the outputs of executions: a number is found as it was sent.
  output json NOT NULL CHECK (json_typeof(output) = 'object' AND octet_length(output::text) <= 262144),
  pinned_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
  PRIMARY KEY (workflow_id, user_id, node_id)
);

ALTER TABLE pinned_outputs ENABLE ROW LEVEL SECURITY;
ALTER TABLE pinned_outputs FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON pinned_outputs USING (organisation_visible(organisation_id));
