import type { ClaimedExecution, Effect, ExecutionStore, WriteInfo } from '@millrace/engine';

/** An effect that stores something. */
export type StoreEffect = Extract<Effect, { kind: 'checkpoint' | 'park' | 'hand_back' | 'finish' }>;

/** Whether an effect stores something. */
export function isStoreEffect(effect: Effect): effect is StoreEffect {
  return (
    effect.kind === 'checkpoint' ||
    effect.kind === 'park' ||
    effect.kind === 'hand_back' ||
    effect.kind === 'finish'
  );
}

/** Performs the effect; false if the store refused. */
export function storeEffect(
  store: ExecutionStore,
  lease: ClaimedExecution['lease'],
  effect: StoreEffect,
  info: WriteInfo,
): Promise<boolean> {
  switch (effect.kind) {
    case 'checkpoint':
      return store.checkpoint(lease, effect.records, info);
    case 'park':
      return store.park(lease, effect.records, effect.wakeAtMs, info);
    case 'hand_back':
      return store.handBack(lease, effect.records, info);
    case 'finish':
      return store.finish(lease, effect.records, effect.outcome, info);
  }
}
