-- An organisation that comes from another instance keeps its ids unless they are taken here. If they are, its rows have larger ones, and whoever
-- knows the former ids still finds them: a former id is never a present one of the same organisation.
CREATE TABLE former_ids (
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('workflows', 'executions', 'credentials')),
  first_id bigint NOT NULL CHECK (first_id >= 1),
  last_id bigint NOT NULL,
  -- What is added to a former id.
  shift bigint NOT NULL,
  PRIMARY KEY (organisation_id, kind, first_id),
  CHECK (first_id <= last_id AND shift >= last_id)
);
ALTER TABLE former_ids ENABLE ROW LEVEL SECURITY;
ALTER TABLE former_ids FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON former_ids USING (organisation_visible(organisation_id));

CREATE FUNCTION present_id(organisation_id bigint, kind text, id bigint) RETURNS bigint LANGUAGE sql STABLE
RETURN id + coalesce((SELECT f.shift FROM former_ids f
  WHERE f.organisation_id = $1 AND f.kind = $2 AND $3 BETWEEN f.first_id AND f.last_id), 0);

-- The id under which it was started elsewhere: its templates, its outputs and the keys of its calls go on with that. Null: its own.
ALTER TABLE executions ADD COLUMN started_as bigint;
