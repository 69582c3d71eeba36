-- What a key is worth at this moment, in one place: authentication and lists must never disagree.

-- When the key stops working by itself: its expiry, or 24 hours after its rotation if that is sooner.
CREATE FUNCTION api_key_valid_until(k api_keys) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
  RETURN least(k.expires_at, k.rotated_at + interval '24 hours');

CREATE FUNCTION api_key_state(k api_keys) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
  RETURN CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked'
    WHEN api_key_valid_until(k) <= now() THEN 'expired'
    WHEN k.locked_at IS NOT NULL THEN 'locked'
    ELSE 'valid' END;

-- Whose role cuts the key's scopes; m is the member it was issued by, all NULL when there is none.
CREATE FUNCTION api_key_issuer(k api_keys, m members) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
  RETURN CASE WHEN k.issued_by IS NULL THEN 'operator'
    WHEN m.removed_at IS NOT NULL THEN 'removed'
    ELSE m.role END;
