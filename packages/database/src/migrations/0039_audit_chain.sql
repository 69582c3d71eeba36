-- The audit log is insert-only, and each organisation's entries are a chain of hashes (ADR 0048).

-- What an entry refers to may be deleted; the entry keeps saying what it was.
ALTER TABLE audit_log
  DROP CONSTRAINT audit_log_api_key_id_fkey,
  DROP CONSTRAINT audit_log_member_id_fkey,
  DROP CONSTRAINT audit_log_user_id_fkey;

-- Entries that no seal covers yet, and from when on they can't change any more.
CREATE TABLE audit_pending (
  entry_id bigint PRIMARY KEY,
  organisation_id bigint NOT NULL,
  sealable_at timestamptz NOT NULL
);
CREATE INDEX audit_pending_by_time ON audit_pending (sealable_at, entry_id);

-- The chain: each hash covers an entry and the hash before it.
CREATE TABLE audit_seals (
  organisation_id bigint NOT NULL,
  position bigint NOT NULL CHECK (position >= 1),
  entry_id bigint NOT NULL UNIQUE,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  sealed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organisation_id, position)
);

-- Where each chain ends, where it begins since its first entries exceeded their retention, and what its last verification found.
CREATE TABLE audit_chains (
  organisation_id bigint PRIMARY KEY REFERENCES organisations ON DELETE CASCADE,
  length bigint NOT NULL DEFAULT 0 CHECK (length >= 0),
  -- Hash of the last entry; zeros before the first.
  head bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CHECK (octet_length(head) = 32),
  -- Positions up to here were deleted; the hash is that of the last of them.
  dropped bigint NOT NULL DEFAULT 0 CHECK (dropped BETWEEN 0 AND length),
  dropped_hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CHECK (octet_length(dropped_hash) = 32),
  verified_at timestamptz,
  verified_entries bigint NOT NULL DEFAULT 0,
  problem json
);

CREATE FUNCTION audit_sealable_at(occurred_at timestamptz, repeat_key text) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE
  -- An entry for repeated events counts until the end of its day (UTC), and statements of that day take a few minutes at most.
  RETURN CASE WHEN repeat_key IS NULL THEN occurred_at
    ELSE (date_trunc('day', occurred_at AT TIME ZONE 'UTC') + interval '1 day 10 minutes') AT TIME ZONE 'UTC' END;

CREATE FUNCTION queue_audit_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_pending (entry_id, organisation_id, sealable_at)
  SELECT id, organisation_id, audit_sealable_at(occurred_at, repeat_key) FROM added;
  RETURN NULL;
END $$;
CREATE TRIGGER audit_log_queue AFTER INSERT ON audit_log REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION queue_audit_entries();

-- Whether retention has moved the beginning of the chain beyond an entry.
CREATE FUNCTION audit_entry_is_dropped(entry bigint) RETURNS boolean
  LANGUAGE sql STABLE
  RETURN EXISTS (SELECT FROM audit_seals s JOIN audit_chains c USING (organisation_id)
    WHERE s.entry_id = entry AND s.position <= c.dropped);

-- An entry for repeated events may count until it is sealed. Nothing else may change, and only retention may delete.
CREATE FUNCTION protect_audit_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF audit_entry_is_dropped(OLD.id) THEN
      RETURN OLD;
    END IF;
  ELSIF NEW.repeats > OLD.repeats AND NEW.last_occurred_at >= OLD.last_occurred_at
    AND (NEW.id, NEW.organisation_id, NEW.occurred_at, NEW.action, NEW.actor, NEW.api_key_id, NEW.member_id, NEW.user_id,
      NEW.source_ip, NEW.request_id, NEW.repeat_key)
    IS NOT DISTINCT FROM (OLD.id, OLD.organisation_id, OLD.occurred_at, OLD.action, OLD.actor, OLD.api_key_id,
      OLD.member_id, OLD.user_id, OLD.source_ip, OLD.request_id, OLD.repeat_key)
    AND NOT EXISTS (SELECT FROM audit_seals WHERE entry_id = OLD.id) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'entries of the audit log cannot be changed or deleted' USING ERRCODE = 'MR003';
END $$;
CREATE TRIGGER audit_log_protect BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION protect_audit_entry();

CREATE FUNCTION protect_audit_seal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND audit_entry_is_dropped(OLD.entry_id) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the chain of the audit log cannot be changed' USING ERRCODE = 'MR003';
END $$;
CREATE TRIGGER audit_seals_protect BEFORE UPDATE OR DELETE ON audit_seals FOR EACH ROW EXECUTE FUNCTION protect_audit_seal();

-- A chain only grows, and its beginning only moves to a sealed position, over entries that are a day old or older.
CREATE FUNCTION protect_audit_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.organisation_id = OLD.organisation_id AND NEW.length >= OLD.length
    AND (NEW.length > OLD.length OR NEW.head = OLD.head) AND (
      (NEW.dropped = OLD.dropped AND NEW.dropped_hash = OLD.dropped_hash)
      OR NEW.dropped > OLD.dropped
        AND NEW.dropped_hash = (SELECT hash FROM audit_seals
          WHERE organisation_id = NEW.organisation_id AND position = NEW.dropped)
        AND NOT EXISTS (SELECT FROM audit_seals s LEFT JOIN audit_log a ON a.id = s.entry_id
          WHERE s.organisation_id = NEW.organisation_id AND s.position <= NEW.dropped
            AND coalesce(a.last_occurred_at, a.occurred_at, s.sealed_at) > now() - interval '1 day')) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the chain of the audit log cannot be changed' USING ERRCODE = 'MR003';
END $$;
CREATE TRIGGER audit_chains_protect BEFORE UPDATE OR DELETE ON audit_chains
  FOR EACH ROW EXECUTE FUNCTION protect_audit_chain();

-- A restore truncates the tables of a new instance, which are empty.
CREATE FUNCTION protect_audit_tables() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  narrowed_to text := coalesce(current_setting('millrace.organisation_id', true), '');
  is_used boolean;
BEGIN
  PERFORM set_config('millrace.organisation_id', '', true);
  is_used := EXISTS (SELECT FROM audit_log) OR EXISTS (SELECT FROM audit_seals);
  PERFORM set_config('millrace.organisation_id', narrowed_to, true);
  IF is_used THEN
    RAISE EXCEPTION 'the audit log cannot be emptied' USING ERRCODE = 'MR003';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER audit_log_keep BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION protect_audit_tables();
CREATE TRIGGER audit_seals_keep BEFORE TRUNCATE ON audit_seals FOR EACH STATEMENT EXECUTE FUNCTION protect_audit_tables();
CREATE TRIGGER audit_chains_keep BEFORE TRUNCATE ON audit_chains FOR EACH STATEMENT EXECUTE FUNCTION protect_audit_tables();

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['audit_pending', 'audit_seals', 'audit_chains'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY organisation ON %I USING (organisation_visible(organisation_id))', t);
  END LOOP;
END $$;

-- What exists is sealed by the service, in the order in which it happened.
INSERT INTO audit_pending (entry_id, organisation_id, sealable_at)
SELECT id, organisation_id, audit_sealable_at(occurred_at, repeat_key) FROM audit_log;
