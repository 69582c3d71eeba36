-- Records of idempotency keys come in bursts and go after a day. A table that shrinks to nothing makes PostgreSQL plan to read all of it, and a
-- kept plan still does when the next burst has filled it.
ALTER TABLE idempotency_records SET (vacuum_truncate = off);
