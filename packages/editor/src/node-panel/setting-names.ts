/** User-editable members of `flow_data.settings`; others are preserved. */
export const SETTING_NAMES = [
  'display_name',
  'vars',
  'input_schema',
  'timezone',
  'timeout_s',
  'max_concurrency',
  'rate',
  'debounce',
  'token_budget',
  'error_workflow_id',
] as const;

export type SettingName = (typeof SETTING_NAMES)[number];
