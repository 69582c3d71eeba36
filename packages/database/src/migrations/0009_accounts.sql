-- People. A member of an organisation is the user with the same e-mail address, so that a member can be named before
-- the person has an account, and one person can be a member of several organisations.
CREATE TABLE users (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  email text NOT NULL UNIQUE CHECK (email = lower(email) AND email LIKE '%_@_%'),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  -- When it was proved that the address is theirs; what was set before is dropped then (ADR 0013).
  email_verified_at timestamptz,
  -- argon2id in PHC form; null: signs in elsewhere only.
  password_hash text,
  -- Sealed like credentials; set without a time of confirmation while the first code is awaited.
  totp_key_id text REFERENCES secret_keys (id),
  totp_ciphertext bytea,
  totp_confirmed_at timestamptz,
  -- The last time step whose code was taken: none is taken twice.
  totp_last_step bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((totp_key_id IS NULL) = (totp_ciphertext IS NULL)),
  CHECK (totp_confirmed_at IS NULL OR totp_ciphertext IS NOT NULL)
);

ALTER TABLE audit_log
  ADD COLUMN user_id bigint REFERENCES users (id) ON DELETE SET NULL,
  DROP CONSTRAINT audit_log_actor_check,
  ADD CONSTRAINT audit_log_actor_check CHECK (actor IN ('api_key', 'member', 'user', 'operator', 'service'));

CREATE TABLE sessions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  created_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  -- Whatever is done with it, it ends then.
  expires_at timestamptz NOT NULL,
  source_ip text,
  user_agent text NOT NULL DEFAULT ''
);
CREATE INDEX sessions_by_user ON sessions (user_id, id);
CREATE INDEX sessions_by_age ON sessions (expires_at);

-- Ten at a time; a used one is gone.
CREATE TABLE recovery_codes (
  user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  code_hash bytea NOT NULL CHECK (octet_length(code_hash) = 32),
  PRIMARY KEY (user_id, code_hash)
);

-- Open while nobody has an account; one for each process that started.
CREATE TABLE setup_links (
  token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE invitations (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  -- NULL: for whoever has the link.
  email text CHECK (email = lower(email) AND email LIKE '%_@_%'),
  role text NOT NULL CHECK (role IN ('viewer', 'editor', 'org_admin', 'system_admin')),
  invited_by bigint REFERENCES users ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  accepted_by bigint REFERENCES users ON DELETE SET NULL,
  revoked_at timestamptz,
  CHECK (accepted_at IS NULL OR revoked_at IS NULL)
);
CREATE INDEX invitations_by_organisation ON invitations (organisation_id, id);
CREATE INDEX invitations_by_email ON invitations (email) WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE INDEX invitations_by_age ON invitations (expires_at);

-- Whether who made an invitation may still give the role: what they lost must not come back through a link.
CREATE FUNCTION invitation_stands(of_organisation bigint, given text, by_user bigint) RETURNS boolean
  LANGUAGE sql STABLE
  RETURN EXISTS (
    SELECT FROM users u JOIN members m ON m.email = u.email AND m.removed_at IS NULL
    WHERE u.id = by_user AND (m.role = 'system_admin'
      OR (m.role = 'org_admin' AND m.organisation_id = of_organisation AND given <> 'system_admin')));

ALTER TABLE invitations ENABLE ROW LEVEL SECURITY;
ALTER TABLE invitations FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON invitations USING (organisation_visible(organisation_id));

-- Members are looked up by address at every request of a session.
CREATE INDEX members_by_email ON members (email) WHERE removed_at IS NULL;

-- Signs the cookie by which a browser is known in which somebody has signed in before.
INSERT INTO service_secrets (name, value)
VALUES ('device', sha256((gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text)::bytea));
