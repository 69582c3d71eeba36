-- What the admin area's list of executions filters by and is rare beside a long history: without these it would be
-- looked for row by row. Starts by the API and by webhooks outside the test mode are in neither and pay nothing.
CREATE INDEX executions_by_trigger ON executions (organisation_id, trigger_type, id)
  WHERE trigger_type NOT IN ('api', 'webhook');
CREATE INDEX executions_in_test_mode ON executions (organisation_id, id) WHERE is_test_mode;
