/** Settings of a test's service: a machine that has much else to do is no overload of it. */
export const NEVER_SHEDS = {
  MILLRACE_SHED_LOOP_DELAY_MS: '0',
  MILLRACE_SHED_POOL_WAIT_MS: '0',
} as const;
