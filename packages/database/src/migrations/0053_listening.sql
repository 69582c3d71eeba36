-- Triggers that listen share these rows with triggers that poll; a connection holds the lease.
ALTER TABLE polls ADD COLUMN listens boolean NOT NULL DEFAULT false;

ALTER TABLE credentials DROP CONSTRAINT credentials_type_check;
ALTER TABLE credentials ADD CONSTRAINT credentials_type_check CHECK (type IN (
  'bearer', 'basic', 'header', 'query', 'digest', 'oauth2', 'google_service_account', 'aws', 'jwt', 'client_certificate',
  'secret', 'smtp', 'imap', 'sql', 'redis', 'mqtt', 'ai', 'chat'));
ALTER TABLE credentials DROP CONSTRAINT credentials_hosts_needed;
ALTER TABLE credentials ADD CONSTRAINT credentials_hosts_needed CHECK (
  type IN ('secret', 'smtp', 'imap', 'sql', 'redis', 'mqtt', 'ai', 'chat') OR cardinality(hosts) > 0);
