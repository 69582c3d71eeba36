import { type NodeContext, success } from '@millrace/engine';
import type { WorkingService } from '../../../runtime/test/worker/service-with-worker.ts';

/** A call of the node `second`, with the key that tells the outside that it is the same one. */
export interface SeenCall {
  readonly at: 'source' | 'target';
  readonly key: string;
}

/**
 * Node `first` ends at once. Node `second` ends in the target only: in the source it goes on until its execution is taken away.
 * @returns a promise that resolves when the source has made its call
 */
export function interruptCall(
  source: WorkingService,
  target: WorkingService,
  calls: SeenCall[],
): Promise<void> {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  source.behaviours.set('first', () => success({ done: true }));
  source.behaviours.set('second', async (context: NodeContext) => {
    calls.push({ at: 'source', key: context.idempotencyKey });
    begin();
    await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve()));
    return success({});
  });
  target.behaviours.set('second', (context) => {
    calls.push({ at: 'target', key: context.idempotencyKey });
    return success({ done: true });
  });
  return begun;
}

/** A credential whose secret must be found after the move, and nowhere else. */
export const CRM = {
  name: 'CRM',
  type: 'bearer',
  hosts: ['api.example.com'],
  fields: { token: 'canary-token' },
} as const;
