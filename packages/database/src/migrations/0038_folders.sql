-- Folders of workflows, one level inside another at most: the folder that a foreign key's last column finds is in no other.
CREATE TABLE workflow_folders (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  -- Null: in no other folder.
  parent_id bigint,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  created_at timestamptz NOT NULL DEFAULT now(),
  is_nested boolean NOT NULL GENERATED ALWAYS AS (parent_id IS NOT NULL) STORED,
  parent_is_nested boolean GENERATED ALWAYS AS (CASE WHEN parent_id IS NOT NULL THEN false END) STORED,
  UNIQUE (organisation_id, id),
  UNIQUE (organisation_id, id, is_nested),
  CONSTRAINT workflow_folders_name_key UNIQUE NULLS NOT DISTINCT (organisation_id, parent_id, name),
  CONSTRAINT workflow_folders_parent_fkey FOREIGN KEY (organisation_id, parent_id, parent_is_nested)
    REFERENCES workflow_folders (organisation_id, id, is_nested) ON DELETE CASCADE
);

-- Workflows that someone marked, for themselves only.
CREATE TABLE workflow_favourites (
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  workflow_id bigint NOT NULL REFERENCES workflows ON DELETE CASCADE,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, workflow_id)
);
CREATE INDEX workflow_favourites_by_workflow ON workflow_favourites (workflow_id);
CREATE INDEX workflow_favourites_by_organisation ON workflow_favourites (organisation_id);

ALTER TABLE workflows
  -- Null: in no folder.
  ADD COLUMN folder_id bigint,
  -- As of a few seconds ago, which is exact enough for an order; 0: it never ran.
  ADD COLUMN last_execution_id bigint NOT NULL DEFAULT 0,
  -- Stored, since conditions on what a function returns can't use an index where row-level security applies. Short enough for a cursor.
  ADD COLUMN name_key text NOT NULL GENERATED ALWAYS AS (left(lower(name), 100)) STORED,
  ADD COLUMN is_archived boolean NOT NULL GENERATED ALWAYS AS (status = 'archived') STORED,
  ADD CONSTRAINT workflows_folder_fkey FOREIGN KEY (organisation_id, folder_id)
    REFERENCES workflow_folders (organisation_id, id) ON DELETE SET NULL (folder_id);

UPDATE workflows w SET last_execution_id = coalesce(
  (SELECT e.id FROM executions e WHERE e.workflow_id = w.id ORDER BY e.id DESC LIMIT 1), 0);

-- One index for each order of the list, of all workflows and of one folder.
CREATE INDEX workflows_list_by_id ON workflows (organisation_id, is_archived, id);
CREATE INDEX workflows_list_by_name ON workflows (organisation_id, is_archived, name_key, id);
CREATE INDEX workflows_list_by_change ON workflows (organisation_id, is_archived, updated_at, id);
CREATE INDEX workflows_list_by_run ON workflows (organisation_id, is_archived, last_execution_id, id);
CREATE INDEX workflows_folder_by_id ON workflows (organisation_id, folder_id, is_archived, id);
CREATE INDEX workflows_folder_by_name ON workflows (organisation_id, folder_id, is_archived, name_key, id);
CREATE INDEX workflows_folder_by_change ON workflows (organisation_id, folder_id, is_archived, updated_at, id);
CREATE INDEX workflows_folder_by_run ON workflows (organisation_id, folder_id, is_archived, last_execution_id, id);

-- Up to which execution the workflows know their last one; one row.
CREATE TABLE last_run_marks (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  execution_id bigint NOT NULL
);
INSERT INTO last_run_marks (execution_id) SELECT coalesce(max(id), 0) FROM executions;

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['workflow_folders', 'workflow_favourites'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY organisation ON %I USING (organisation_visible(organisation_id))', t);
  END LOOP;
END $$;
