-- While somebody listens for a sample: the last call that was refused, and why. A captured call may repeat an event, and then started nothing.
ALTER TABLE sample_listeners
  ADD COLUMN refusal json,
  ADD COLUMN refused_at timestamptz,
  ADD CHECK ((refusal IS NULL) = (refused_at IS NULL));
ALTER TABLE workflow_samples ADD COLUMN is_repeat boolean NOT NULL DEFAULT false;
