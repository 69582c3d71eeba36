/** What becomes of a table in a backup: all its rows are in it, or none of them. */
export type TableDecision = 'kept' | 'left_out';

/** One decision for each table; a test fails if one has none. */
export const TABLES: Readonly<Record<string, TableDecision>> = {
  alert_failing_workflows: 'kept',
  alert_incidents: 'kept',
  alert_marks: 'kept',
  alert_messages: 'kept',
  alert_rules: 'kept',
  api_keys: 'kept',
  audit_chains: 'kept',
  audit_log: 'kept',
  audit_pending: 'kept',
  audit_seals: 'kept',
  callbacks: 'kept',
  // Whoever was at a provider has to begin again: their session isn't kept, either.
  credential_connections: 'left_out',
  credential_grants: 'kept',
  credentials: 'kept',
  data_entries: 'kept',
  data_usage: 'kept',
  data_writes: 'kept',
  execution_checkpoints: 'kept',
  execution_child_tokens: 'kept',
  execution_follow_ups: 'kept',
  execution_signals: 'kept',
  executions: 'kept',
  former_key_uses: 'kept',
  former_webhook_hashes: 'kept',
  held_starts: 'kept',
  idempotency_records: 'kept',
  invitations: 'kept',
  last_run_marks: 'kept',
  members: 'kept',
  organisation_settings: 'kept',
  organisations: 'kept',
  pinned_outputs: 'kept',
  recovery_codes: 'kept',
  // An editor that waits for a sample does so for minutes.
  sample_listeners: 'left_out',
  schedule_fires: 'kept',
  schedules: 'kept',
  // Made again by the migrations; the manifest says which.
  schema_migrations: 'left_out',
  secret_keys: 'kept',
  // How busy the processes were, which are others now.
  service_samples: 'left_out',
  service_secrets: 'kept',
  // Whoever had signed out, or been signed out, must not be signed in again.
  sessions: 'left_out',
  // Whoever finds an old link must not become the administrator.
  setup_links: 'left_out',
  start_debounces: 'kept',
  start_rates: 'kept',
  storage_changes: 'kept',
  storage_usage: 'kept',
  users: 'kept',
  webhook_deliveries: 'kept',
  // Leases of processes that don't work on the restored instance.
  workers: 'left_out',
  workflow_drafts: 'kept',
  workflow_favourites: 'kept',
  workflow_folders: 'kept',
  workflow_samples: 'kept',
  workflow_versions: 'kept',
  workflows: 'kept',
  write_probes: 'left_out',
};
