import type { Template } from '@millrace/templates/template';

/** What happens to a start when its key has reached the limit. */
export const ON_LIMIT = ['queue', 'skip', 'cancel_running'] as const;
export type OnLimit = (typeof ON_LIMIT)[number];

/** `settings.concurrency`: how many executions with the same key may run at the same time. */
export interface Concurrency {
  /** Null: all executions of the workflow have the same key. */
  readonly key: Template | null;
  readonly limit: number;
  readonly onLimit: OnLimit;
}

/** Why the service cancelled an execution because of {@link Concurrency}. */
export const CANCELLED_BY_CONCURRENCY = {
  skip: 'skipped_by_concurrency',
  cancel_running: 'cancelled_by_newer_execution',
} as const satisfies { readonly [mode in Exclude<OnLimit, 'queue'>]: string };
