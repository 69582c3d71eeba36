-- What happens again and again is one entry: how often, first and last. Entries that would repeat each other have the same
-- repeat_key; the first one's time is occurred_at.
ALTER TABLE audit_log
  ADD COLUMN repeat_key text,
  ADD COLUMN repeats integer NOT NULL DEFAULT 1 CHECK (repeats >= 1),
  ADD COLUMN last_occurred_at timestamptz,
  ADD CHECK ((repeat_key IS NULL) = (last_occurred_at IS NULL)),
  ADD CHECK (repeat_key IS NOT NULL OR repeats = 1);
CREATE UNIQUE INDEX audit_log_repeated ON audit_log (organisation_id, repeat_key) WHERE repeat_key IS NOT NULL;
