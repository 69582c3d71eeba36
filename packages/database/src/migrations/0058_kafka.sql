ALTER TABLE credentials DROP CONSTRAINT credentials_type_check;
ALTER TABLE credentials ADD CONSTRAINT credentials_type_check CHECK (type IN (
  'bearer', 'basic', 'header', 'query', 'digest', 'oauth2', 'google_service_account', 'aws', 'jwt', 'client_certificate',
  'secret', 'smtp', 'imap', 'sql', 'redis', 'mqtt', 'kafka', 'ai', 'chat'));
ALTER TABLE credentials DROP CONSTRAINT credentials_hosts_needed;
ALTER TABLE credentials ADD CONSTRAINT credentials_hosts_needed CHECK (
  type IN ('secret', 'smtp', 'imap', 'sql', 'redis', 'mqtt', 'kafka', 'ai', 'chat') OR cardinality(hosts) > 0);
