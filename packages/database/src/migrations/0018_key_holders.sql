-- The account that issued a key, or rotated it last. issued_by stays the membership it was done with: NULL for an
-- administrator of the service who was no member. Both NULL: made by the operator's command line, and the operator's.
ALTER TABLE api_keys ADD COLUMN issued_by_user bigint REFERENCES users;
CREATE INDEX api_keys_by_issuer ON api_keys (issued_by_user) WHERE issued_by_user IS NOT NULL;

-- The account behind the member, when it is the one that was there at that time.
UPDATE api_keys k SET issued_by_user = u.id
FROM members m JOIN users u ON u.email = m.email
WHERE m.id = k.issued_by AND u.created_at <= k.created_at AND (u.removed_at IS NULL OR u.removed_at > k.created_at);

-- Keys of administrators of the service were the operator's, and handed on by rotation: the log tells whose they are.
WITH RECURSIVE made AS (
  SELECT api_key_id AS id, user_id FROM audit_log
  WHERE action = 'api_key.issued' AND actor = 'user' AND user_id IS NOT NULL AND api_key_id IS NOT NULL
), successors AS (
  SELECT (details ->> 'successor_id')::bigint AS id, api_key_id AS of FROM audit_log WHERE action = 'api_key.rotated'
), owned AS (
  SELECT id, user_id FROM made
  UNION
  SELECT s.id, o.user_id FROM successors s JOIN owned o ON o.id = s.of
)
UPDATE api_keys k SET issued_by_user = o.user_id
FROM owned o WHERE o.id = k.id AND k.issued_by IS NULL AND k.issued_by_user IS NULL;

-- Who rotated a key has the secret of its successor, so that one is theirs. Not so by the command line: nothing that a
-- role cuts becomes more by an upgrade.
UPDATE api_keys k SET issued_by_user = a.user_id, issued_by = a.by_member
FROM (
  SELECT l.user_id, (l.details ->> 'successor_id')::bigint AS successor_id,
    (SELECT max(m.id) FROM members m JOIN users u ON u.email = m.email
     WHERE u.id = l.user_id AND m.organisation_id = l.organisation_id AND m.created_at <= l.occurred_at) AS by_member
  FROM audit_log l WHERE l.action = 'api_key.rotated' AND l.actor = 'user' AND l.user_id IS NOT NULL
) a
WHERE a.successor_id = k.id;

-- On whose authority a key works at this moment: `removed` when there is nobody left, `operator` when it was nobody's.
-- It must see all organisations: an administrator of the service need not be a member of the key's.
CREATE FUNCTION api_key_holder(k api_keys) RETURNS TABLE (issuer text, email text) LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT
    CASE
      WHEN k.issued_by IS NULL AND k.issued_by_user IS NULL THEN 'operator'
      WHEN u.removed_at IS NOT NULL THEN 'removed'
      WHEN EXISTS (SELECT FROM members s
        WHERE s.email = u.email AND s.removed_at IS NULL AND s.role = 'system_admin') THEN 'system_admin'
      -- A membership that ended does not come back with a new one.
      WHEN m.removed_at IS NOT NULL THEN 'removed'
      WHEN m.id IS NOT NULL THEN m.role
      ELSE coalesce((SELECT p.role FROM members p
        WHERE p.organisation_id = k.organisation_id AND p.email = u.email AND p.removed_at IS NULL), 'removed')
    END AS issuer,
    coalesce(u.email, m.email) AS email
  FROM (SELECT) AS one LEFT JOIN users u ON u.id = k.issued_by_user LEFT JOIN members m ON m.id = k.issued_by;
END;
DROP FUNCTION api_key_issuer(api_keys, members);
