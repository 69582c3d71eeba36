import type { JsonObject, JsonValue } from '@millrace/values/json';
import type { NodeRecord } from './execution.ts';
import type { NodeSignal } from './node.ts';
import type { AttemptResult } from './node-result.ts';
import type { PlanNode } from './plan.ts';
import type { Outcome } from './store.ts';

/** What the driver reports to the execution. `atMs`: epoch milliseconds; `jitter`: random number in [0, 1). */
export type StepEvent =
  | {
      readonly kind: 'node_ended';
      readonly nodeId: string;
      /** From the effect that started it, like the attempt. */
      readonly iteration: readonly number[];
      /** From the effect that started it; the end of a superseded attempt has no effect. */
      readonly attempt: number;
      readonly result: AttemptResult;
      readonly atMs: number;
      readonly jitter: number;
    }
  /** A signal was sent; those already reported, by this or to `resume`, have no effect. */
  | {
      readonly kind: 'signal';
      readonly nodeId: string;
      readonly iteration: readonly number[];
      readonly payload: JsonValue;
      readonly seq: number;
      readonly atMs: number;
      readonly jitter: number;
    }
  /** The time requested by `wait_until` has come. */
  | { readonly kind: 'time'; readonly atMs: number; readonly jitter: number }
  /** The driver stops: the execution was cancelled, its lease was lost, or the worker shuts down. */
  | { readonly kind: 'stop'; readonly reason: StopReason; readonly atMs: number };

export type StopReason = 'cancelled' | 'lease_lost' | 'shutdown';
export type AbortReason = StopReason | 'node_timeout' | 'iteration_ended' | 'execution_ended';

/** What the driver must do, in this order, each before the next. */
export type Effect =
  /** Run `node.definition.run`, or `resume` when `resumed` is given, and report `node_ended`. The next effect doesn't wait for that. */
  | {
      readonly kind: 'start_node';
      readonly node: PlanNode;
      /** Index of the iteration of each loop around the node, outermost first; empty outside of loops. */
      readonly iteration: readonly number[];
      readonly attempt: number;
      /** Attempts of the loops around the node, outermost first; absent while all are at their first. */
      readonly loopAttempts?: readonly number[];
      /** The rendered config; it matches the node's schema. */
      readonly config: JsonObject;
      readonly inputs: { readonly [nodeId: string]: JsonObject };
      /** The ids in `inputs`, in the order of the edges. */
      readonly inputOrder: readonly string[];
      /** The output the previous, failed attempt left; null for none. */
      readonly previousOutput: JsonObject | null;
      /** The remainder of `settings.token_budget`; null without one. */
      readonly aiTokensLeft: number | null;
      /** `settings.timezone`; null without one. */
      readonly timezone: string | null;
      /** The wait of a node is over: call `definition.resume` with these. Absent: call `run`. */
      readonly resumed?: { readonly signal: NodeSignal; readonly waiting: JsonObject };
      /**
       * `NodeContext.render`.
       * @throws RenderLimitError when the result is larger than an output may be
       */
      readonly render: (template: JsonValue, args: JsonObject) => JsonValue;
    }
  /** Abort the signal of that attempt; its end will be ignored. */
  | {
      readonly kind: 'abort_node';
      readonly nodeId: string;
      readonly iteration: readonly number[];
      readonly attempt: number;
      readonly reason: AbortReason;
    }
  /** Store the records; if the store refuses, stop with `lease_lost` and skip all later effects. */
  | (Write & { readonly kind: 'checkpoint' })
  /** Report `time` then. There is only one such timer: a later effect of this kind replaces it. */
  | { readonly kind: 'wait_until'; readonly atMs: number }
  /** The last effect of a run: store the records and release the execution until then; null: until a signal. */
  | (Write & { readonly kind: 'park'; readonly wakeAtMs: number | null })
  /** The last effect of a run: store the records and put the execution back into the queue. */
  | (Write & { readonly kind: 'hand_back' })
  /** The last effect of a run: store the records and the outcome of the execution. */
  | (Write & { readonly kind: 'finish'; readonly outcome: Outcome });

/** What every effect passes to the store; matches its `WriteInfo`. */
interface Write {
  readonly records: readonly NodeRecord[];
  /** By the execution's own nodes. */
  readonly consumedAiTokens: number;
  /** Of everything stored for the execution, these records included. */
  readonly storedBytes: number;
  /** `seq` of the last signal reported to the run. */
  readonly signalsSeen: number;
}
