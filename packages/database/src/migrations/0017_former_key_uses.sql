-- From where a rotated key is used while it works beside its successor: who has yet to change it.
CREATE TABLE former_key_uses (
  api_key_id bigint NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  source_ip text NOT NULL,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  last_used_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (api_key_id, source_ip)
);

ALTER TABLE former_key_uses ENABLE ROW LEVEL SECURITY;
ALTER TABLE former_key_uses FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON former_key_uses USING (organisation_visible(organisation_id));
