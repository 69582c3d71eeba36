-- An account that was removed stays as a row that opens nothing, so that the audit log and the history of workflows go on
-- telling who it was. Its address is free: whoever comes back with it is somebody new.
ALTER TABLE users
  ADD COLUMN removed_at timestamptz,
  ADD CONSTRAINT users_removed_check CHECK (removed_at IS NULL OR (password_hash IS NULL AND totp_ciphertext IS NULL)),
  DROP CONSTRAINT users_email_key;
CREATE UNIQUE INDEX users_by_email ON users (email) WHERE removed_at IS NULL;

-- What somebody could give who was removed does not come back with a new account of the same address.
CREATE OR REPLACE FUNCTION invitation_stands(of_organisation bigint, given text, by_user bigint) RETURNS boolean
  LANGUAGE sql STABLE
  RETURN EXISTS (
    SELECT FROM users u JOIN members m ON m.email = u.email AND m.removed_at IS NULL
    WHERE u.id = by_user AND u.removed_at IS NULL AND (m.role = 'system_admin'
      OR (m.role = 'org_admin' AND m.organisation_id = of_organisation AND given <> 'system_admin')));
