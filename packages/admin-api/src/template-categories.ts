/** What templates are for, in the order of the gallery. */
export const TEMPLATE_CATEGORIES = [
  'basics',
  'ai',
  'approvals',
  'data',
  'notifications',
  'reports',
  'sales',
] as const;
