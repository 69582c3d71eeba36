/** The migrated database without rows that each test's own is copied from. */
export const TEMPLATE = 'millrace_template';
