-- Secrets of the service itself, made once and shared by all its processes. They belong to no organisation.
CREATE TABLE service_secrets (
  name text PRIMARY KEY CHECK (name ~ '^[a-z_]+$'),
  value bytea NOT NULL CHECK (octet_length(value) = 32),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Signs the cursors of lists. Each uuid brings 122 bits of the server's strong random numbers.
INSERT INTO service_secrets (name, value)
VALUES ('cursor', sha256((gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text)::bytea));
