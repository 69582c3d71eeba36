-- Which key secrets are encrypted with; the keys themselves are in the environment or in a file, never here. The id is
-- made from the key, so that a process can tell whether it has the right one.
CREATE TABLE secret_keys (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{16}$'),
  -- current: encrypts; retiring: a rotation is replacing it; retired: nothing is encrypted with it any more.
  state text NOT NULL CHECK (state IN ('current', 'retiring', 'retired')),
  created_at timestamptz NOT NULL DEFAULT now(),
  retired_at timestamptz,
  CHECK ((state = 'retired') = (retired_at IS NOT NULL))
);
CREATE UNIQUE INDEX secret_keys_one_current ON secret_keys (state) WHERE state = 'current';

CREATE TABLE credentials (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  type text NOT NULL CHECK (type IN ('bearer', 'basic', 'header', 'secret', 'smtp', 'sql', 'ai', 'chat')),
  -- Where it may be sent; empty for types that name their host among their settings, and for keys that stay here.
  hosts text[] NOT NULL DEFAULT '{}' CHECK (cardinality(hosts) <= 50),
  -- The fields that are no secret. Like type and hosts they are part of what the ciphertext is bound to.
  settings json NOT NULL DEFAULT '{}',
  key_id text REFERENCES secret_keys,
  -- NULL: the key was lost and the secret given up; it has to be entered anew.
  ciphertext bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- To the minute.
  last_used_at timestamptz,
  -- NULL: the operator's command line.
  created_by bigint REFERENCES members ON DELETE SET NULL,
  UNIQUE (organisation_id, name),
  CHECK ((key_id IS NULL) = (ciphertext IS NULL)),
  CHECK (type NOT IN ('bearer', 'basic', 'header') OR cardinality(hosts) > 0)
);
CREATE INDEX credentials_by_key ON credentials (key_id, id);

ALTER TABLE credentials ENABLE ROW LEVEL SECURITY;
ALTER TABLE credentials FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON credentials USING (organisation_visible(organisation_id));
