-- More ways to authenticate with HTTP; all of them are bound to hosts.
ALTER TABLE credentials DROP CONSTRAINT credentials_type_check;
ALTER TABLE credentials ADD CONSTRAINT credentials_type_check CHECK (type IN (
  'bearer', 'basic', 'header', 'query', 'digest', 'oauth2', 'google_service_account', 'aws', 'jwt', 'client_certificate',
  'secret', 'smtp', 'sql', 'ai', 'chat'));
ALTER TABLE credentials DROP CONSTRAINT credentials_check1;
ALTER TABLE credentials ADD CONSTRAINT credentials_hosts_needed CHECK (
  type IN ('secret', 'smtp', 'sql', 'ai', 'chat') OR cardinality(hosts) > 0);

-- The tokens of a credential that fetches them. The row is also what processes agree by on who fetches the next ones.
CREATE TABLE credential_grants (
  credential_id bigint PRIMARY KEY REFERENCES credentials ON DELETE CASCADE,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  -- pending: the first ones are being fetched; active: they can be used; ended: the provider takes them back, a person has to connect again.
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'active', 'ended')),
  -- Counts the tokens, so that whoever was refused with one can tell whether there is a newer one.
  generation bigint NOT NULL DEFAULT 0,
  key_id text REFERENCES secret_keys,
  ciphertext bytea,
  -- Null: the provider doesn't say how long they last.
  expires_at timestamptz,
  renew_at timestamptz,
  obtained_at timestamptz,
  -- When a person connected it; null for tokens that need nobody.
  connected_at timestamptz,
  -- Who is fetching tokens, and until when they may.
  lease uuid,
  lease_until timestamptz,
  CHECK ((key_id IS NULL) = (ciphertext IS NULL)),
  CHECK ((state = 'active') = (ciphertext IS NOT NULL)),
  CHECK ((lease IS NULL) = (lease_until IS NULL))
);
CREATE INDEX credential_grants_by_key ON credential_grants (key_id, credential_id);

-- People who are at a provider to connect a credential. One use each, within minutes.
CREATE TABLE credential_connections (
  state_hash bytea PRIMARY KEY CHECK (octet_length(state_hash) = 32),
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  credential_id bigint NOT NULL REFERENCES credentials ON DELETE CASCADE,
  session_id bigint NOT NULL REFERENCES sessions ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);
CREATE INDEX credential_connections_by_credential ON credential_connections (credential_id);
CREATE INDEX credential_connections_by_session ON credential_connections (session_id);

ALTER TABLE credential_grants ENABLE ROW LEVEL SECURITY;
ALTER TABLE credential_grants FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON credential_grants USING (organisation_visible(organisation_id));
ALTER TABLE credential_connections ENABLE ROW LEVEL SECURITY;
ALTER TABLE credential_connections FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON credential_connections USING (organisation_visible(organisation_id));

-- Derives the verifiers of PKCE.
INSERT INTO service_secrets (name, value)
VALUES ('oauth', sha256((gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text)::bytea));
