-- Connectors that organisations upload. Each upload is a revision that never changes; a saved workflow runs with the revisions it was saved with.
CREATE TABLE own_connectors (
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  -- The id in the file: the second part of its node types.
  name text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_]{0,59}$'),
  -- The newest, which new versions of workflows get.
  revision integer NOT NULL CHECK (revision >= 1),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- No new version of a workflow can have it. What was saved before still runs.
  deleted_at timestamptz,
  PRIMARY KEY (organisation_id, name)
);

CREATE TABLE own_connector_revisions (
  organisation_id bigint NOT NULL,
  name text NOT NULL,
  revision integer NOT NULL CHECK (revision >= 1),
  title text NOT NULL,
  -- As it was uploaded.
  file text NOT NULL CHECK (octet_length(file) <= 262144),
  file_hash bytea NOT NULL CHECK (octet_length(file_hash) = 32),
  bytes integer NOT NULL CHECK (bytes BETWEEN 1 AND 262144),
  operations integer NOT NULL CHECK (operations >= 0),
  triggers integer NOT NULL CHECK (triggers >= 0),
  -- Who uploaded it; NULL: the operator.
  user_id bigint REFERENCES users ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organisation_id, name, revision),
  FOREIGN KEY (organisation_id, name) REFERENCES own_connectors ON DELETE CASCADE
);

-- The revisions that a version of a workflow was saved with.
CREATE TABLE workflow_connectors (
  workflow_id bigint NOT NULL,
  version integer NOT NULL,
  name text NOT NULL,
  organisation_id bigint NOT NULL,
  revision integer NOT NULL,
  PRIMARY KEY (workflow_id, version, name),
  FOREIGN KEY (workflow_id, version) REFERENCES workflow_versions ON DELETE CASCADE,
  FOREIGN KEY (organisation_id, name, revision) REFERENCES own_connector_revisions ON DELETE CASCADE
);
CREATE INDEX workflow_connectors_by_revision ON workflow_connectors (organisation_id, name, revision);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['own_connectors', 'own_connector_revisions', 'workflow_connectors'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY organisation ON %I USING (organisation_visible(organisation_id))', t);
  END LOOP;
END $$;
