-- Events that webhooks with de-duplication have taken: a sender that repeats one gets the first execution's id.
CREATE TABLE webhook_deliveries (
  workflow_id bigint NOT NULL REFERENCES workflows ON DELETE CASCADE,
  -- SHA-256 of the event's id, which may be of any length and hold any character.
  event_hash bytea NOT NULL CHECK (octet_length(event_hash) = 32),
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  execution_id bigint NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (workflow_id, event_hash)
);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (expires_at);

ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_deliveries FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON webhook_deliveries USING (organisation_visible(organisation_id));
