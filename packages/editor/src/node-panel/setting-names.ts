/** Members of `flow_data.settings` that people set; others are kept as they are. */
export const SETTING_NAMES = [
  'display_name',
  'vars',
  'input_schema',
  'timezone',
  'timeout_s',
  'max_concurrency',
  'token_budget',
  'error_workflow_id',
] as const;

export type SettingName = (typeof SETTING_NAMES)[number];
