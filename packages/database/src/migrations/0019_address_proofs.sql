-- Whose link of an invitation shows that an address is theirs: an administrator of the service or the operator, who
-- give it to whom it is for. Who administers an organisation vouches for its members only.
ALTER TABLE invitations
  ADD COLUMN proves_address boolean NOT NULL DEFAULT false,
  ADD COLUMN by_operator boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT invitations_proof_check CHECK (NOT proves_address OR email IS NOT NULL),
  ADD CONSTRAINT invitations_maker_check CHECK (NOT by_operator OR invited_by IS NULL);

-- An invitation that ended because its maker lost the right stays ended.
UPDATE invitations SET revoked_at = now()
WHERE accepted_at IS NULL AND revoked_at IS NULL AND expires_at > now()
  AND NOT invitation_stands(organisation_id, role, invited_by);

DROP FUNCTION invitation_stands(bigint, text, bigint);
-- Whether who made an invitation may still make it: what they lost must not come back through a link.
CREATE FUNCTION invitation_stands(i invitations) RETURNS boolean LANGUAGE sql STABLE
  RETURN i.by_operator OR EXISTS (
    SELECT FROM users u JOIN members m ON m.email = u.email AND m.removed_at IS NULL
    WHERE u.id = i.invited_by AND u.removed_at IS NULL AND (m.role = 'system_admin'
      OR (m.role = 'org_admin' AND m.organisation_id = i.organisation_id
        AND i.role <> 'system_admin' AND NOT i.proves_address)));
