/** User-editable members of `flow_data.settings`; others are preserved. */
export const SETTING_NAMES = [
  'display_name',
  'search_keys',
  'vars',
  'input_schema',
  'timezone',
  'timeout_s',
  'max_concurrency',
  'concurrency',
  'rate',
  'debounce',
  'priority',
  'token_budget',
  'error_workflow_id',
] as const;

export type SettingName = (typeof SETTING_NAMES)[number];
