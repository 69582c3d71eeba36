import type { NodeRecord } from './execution.ts';
import type { JsonObject } from './json.ts';
import type { NodeResult } from './node.ts';
import type { PlanNode } from './plan.ts';
import type { Outcome } from './store.ts';

/** What the driver tells the execution. `atMs`: epoch milliseconds; `jitter`: random number in [0, 1). */
export type StepEvent =
  | {
      readonly kind: 'node_ended';
      readonly nodeId: string;
      /** From the effect that started it; the end of an attempt that no longer counts changes nothing. */
      readonly attempt: number;
      readonly result: NodeResult;
      readonly atMs: number;
      readonly jitter: number;
    }
  /** The time asked for by `wait_until` has come. */
  | { readonly kind: 'time'; readonly atMs: number; readonly jitter: number }
  /** The driver stops: the execution was cancelled, its lease was lost, or the worker shuts down. */
  | { readonly kind: 'stop'; readonly reason: StopReason; readonly atMs: number };

export type StopReason = 'cancelled' | 'lease_lost' | 'shutdown';
export type AbortReason = StopReason | 'node_timeout' | 'execution_ended';

/** What the driver must do, in this order, each before the next. */
export type Effect =
  /** Run `node.definition.run` and report `node_ended`. Does not wait for the end before the next effect. */
  | {
      readonly kind: 'start_node';
      readonly node: PlanNode;
      readonly attempt: number;
      /** The rendered config; it fits the node's schema. */
      readonly config: JsonObject;
      readonly inputs: { readonly [nodeId: string]: JsonObject };
      /** The ids in `inputs`, in the order of the edges. */
      readonly inputOrder: readonly string[];
    }
  /** Abort the signal of that attempt; its end will be ignored. */
  | {
      readonly kind: 'abort_node';
      readonly nodeId: string;
      readonly attempt: number;
      readonly reason: AbortReason;
    }
  /** Store the records; when the store refuses, stop with `lease_lost` and perform nothing that follows. */
  | {
      readonly kind: 'checkpoint';
      readonly records: readonly NodeRecord[];
      readonly consumedAiTokens: number;
    }
  /** Report `time` then. There is one such timer: a later effect of this kind replaces it. */
  | { readonly kind: 'wait_until'; readonly atMs: number }
  /** The last effect of a run: store the records and give the execution back until then. */
  | {
      readonly kind: 'park';
      readonly records: readonly NodeRecord[];
      readonly wakeAtMs: number;
      readonly consumedAiTokens: number;
    }
  /** The last effect of a run: store the records and put the execution back into the queue. */
  | { readonly kind: 'hand_back'; readonly records: readonly NodeRecord[]; readonly consumedAiTokens: number }
  /** The last effect of a run: store the records and how the execution ended. */
  | {
      readonly kind: 'finish';
      readonly records: readonly NodeRecord[];
      readonly outcome: Outcome;
      readonly consumedAiTokens: number;
    };
