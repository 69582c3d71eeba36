-- Filters of the list of executions under a name: one person's, or for everybody in the organisation.
CREATE TABLE execution_views (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  is_shared boolean NOT NULL,
  filters json NOT NULL CHECK (octet_length(filters::text) <= 4000),
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organisation_id, user_id, name)
);
CREATE INDEX execution_views_shared ON execution_views (organisation_id) WHERE is_shared;
CREATE INDEX execution_views_by_user ON execution_views (user_id);

ALTER TABLE execution_views ENABLE ROW LEVEL SECURITY;
ALTER TABLE execution_views FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON execution_views USING (organisation_visible(organisation_id));
