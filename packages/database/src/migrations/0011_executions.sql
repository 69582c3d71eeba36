-- What the admin area looks up of executions. Both are indexes of few rows, so that starts pay nothing for them.
CREATE INDEX executions_reruns ON executions (rerun_of) WHERE rerun_of IS NOT NULL;
CREATE INDEX callbacks_decided_approvals ON callbacks (organisation_id, id)
  WHERE kind = 'approval' AND used_at IS NOT NULL;
