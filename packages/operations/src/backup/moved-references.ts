/**
 * The table whose id a column has, by the column's name, wherever it occurs: also in columns without a foreign key, whose row may be
 * deleted. A test fails for a number that is neither here nor in {@link PLAIN_NUMBERS}.
 */
export const REFERENCES: Readonly<Record<string, string>> = {
  accepted_by: 'users',
  api_key_id: 'api_keys',
  cancelled_for: 'executions',
  child_id: 'executions',
  created_by: 'members',
  credential_id: 'credentials',
  error_workflow_id: 'workflows',
  execution_id: 'executions',
  folder_id: 'workflow_folders',
  invited_by: 'users',
  issued_by: 'members',
  issued_by_user: 'users',
  last_execution_id: 'executions',
  member_id: 'members',
  message_id: 'alert_messages',
  organisation_id: 'organisations',
  parent_execution_id: 'executions',
  parent_id: 'workflow_folders',
  rerun_of: 'executions',
  rule_id: 'alert_rules',
  user_id: 'users',
  workflow_id: 'workflows',
};

/** Numbers that name no row. `claim` fences polls and `started` counts their starts; `started_as` is what an execution was called elsewhere. */
export const PLAIN_NUMBERS: ReadonlySet<string> = new Set([
  'bytes',
  'claim',
  'completed',
  'consumed_ai_tokens',
  'data_storage_bytes',
  'durations',
  'executions_storage_bytes',
  'failed',
  'fire_count',
  'fire_number',
  'first_id',
  'generation',
  'interval_us',
  'kept_bytes',
  'last_id',
  'last_seq',
  'occurrences',
  'rate_interval_us',
  'rate_tolerance_us',
  'revision',
  'seconds',
  'seq',
  'shift',
  'size',
  'started',
  'started_as',
  'stored_bytes',
  'timeout_ms',
  'tokens',
  'tolerance_us',
  'totp_last_step',
  'waiting',
]);

/** Members of an audit entry's details that name a row. */
export const NAMED_IN_DETAILS: Readonly<Record<string, string>> = {
  alert_rule_id: 'alert_rules',
  credential_id: 'credentials',
  execution_id: 'executions',
  folder_id: 'workflow_folders',
  invitation_id: 'invitations',
  parent_id: 'workflow_folders',
  workflow_id: 'workflows',
};

/** What alerts are about, as their subjects and marks begin. */
export const NAMED_BY_ALERTS: Readonly<Record<string, string>> = {
  api_key: 'api_keys',
  credential: 'credentials',
  execution: 'executions',
  workflow: 'workflows',
};
