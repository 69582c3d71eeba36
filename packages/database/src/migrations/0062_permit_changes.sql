-- Changes of what a start from memory relies on (docs/adr/0121-starts-from-memory.md): its insert leaves it out if there was one since what it
-- remembers was read. One row for each transaction; the newest of each organisation stays.
CREATE TABLE permit_changes (
  -- 0: of any organisation.
  organisation_id bigint NOT NULL,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  noted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organisation_id, xid)
);
ALTER TABLE permit_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE permit_changes FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON permit_changes USING (organisation_id = 0 OR organisation_visible(organisation_id));

CREATE FUNCTION note_permit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO permit_changes (organisation_id) VALUES (coalesce(NEW.organisation_id, OLD.organisation_id)) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE FUNCTION note_permit_change_everywhere() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO permit_changes (organisation_id) VALUES (0) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER workflows_note_permit_change AFTER UPDATE ON workflows FOR EACH ROW
  WHEN (OLD.organisation_id <> NEW.organisation_id OR OLD.name <> NEW.name OR OLD.status <> NEW.status OR OLD.version <> NEW.version
    OR OLD.is_test_mode <> NEW.is_test_mode)
  EXECUTE FUNCTION note_permit_change();
CREATE TRIGGER workflows_note_permit_end AFTER DELETE ON workflows FOR EACH ROW EXECUTE FUNCTION note_permit_change();

-- The next success of a key that has failed must be recorded, so it has to be looked up.
CREATE TRIGGER api_keys_note_permit_change AFTER UPDATE ON api_keys FOR EACH ROW
  WHEN (OLD.organisation_id <> NEW.organisation_id OR OLD.scopes <> NEW.scopes OR OLD.issued_by IS DISTINCT FROM NEW.issued_by
    OR OLD.issued_by_user IS DISTINCT FROM NEW.issued_by_user OR OLD.expires_at IS DISTINCT FROM NEW.expires_at
    OR OLD.rotated_at IS DISTINCT FROM NEW.rotated_at OR OLD.revoked_at IS DISTINCT FROM NEW.revoked_at
    OR OLD.locked_at IS DISTINCT FROM NEW.locked_at OR (OLD.consecutive_failures = 0 AND NEW.consecutive_failures > 0))
  EXECUTE FUNCTION note_permit_change();
CREATE TRIGGER api_keys_note_permit_end AFTER DELETE ON api_keys FOR EACH ROW EXECUTE FUNCTION note_permit_change();

CREATE TRIGGER organisation_settings_note_permit_change AFTER UPDATE ON organisation_settings FOR EACH ROW
  WHEN (OLD.requests_per_minute IS DISTINCT FROM NEW.requests_per_minute)
  EXECUTE FUNCTION note_permit_change();
CREATE TRIGGER organisation_settings_note_permit_begin AFTER INSERT ON organisation_settings FOR EACH ROW
  WHEN (NEW.requests_per_minute IS NOT NULL)
  EXECUTE FUNCTION note_permit_change();
CREATE TRIGGER organisation_settings_note_permit_end AFTER DELETE ON organisation_settings FOR EACH ROW
  EXECUTE FUNCTION note_permit_change();
CREATE TRIGGER former_ids_note_permit_change AFTER INSERT OR UPDATE OR DELETE ON former_ids FOR EACH ROW
  EXECUTE FUNCTION note_permit_change();

-- The role of whoever issued a key may come from a membership of another organisation.
CREATE TRIGGER members_note_permit_change AFTER UPDATE ON members FOR EACH ROW
  WHEN (OLD.organisation_id <> NEW.organisation_id OR OLD.email <> NEW.email OR OLD.role <> NEW.role
    OR OLD.removed_at IS DISTINCT FROM NEW.removed_at)
  EXECUTE FUNCTION note_permit_change_everywhere();
CREATE TRIGGER members_note_permit_end AFTER DELETE ON members FOR EACH ROW EXECUTE FUNCTION note_permit_change_everywhere();
CREATE TRIGGER users_note_permit_change AFTER UPDATE ON users FOR EACH ROW
  WHEN (OLD.email <> NEW.email OR OLD.removed_at IS DISTINCT FROM NEW.removed_at)
  EXECUTE FUNCTION note_permit_change_everywhere();
CREATE TRIGGER users_note_permit_end AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION note_permit_change_everywhere();
