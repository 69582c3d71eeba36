import type { Message } from '@millrace/messages';
import type { JsonObject } from './json.ts';
import { type Tokens, tokensOf } from './tokens.ts';

/** The handle an edge leaves from when it names none. */
export const DEFAULT_HANDLE = 'out';
/** The handle taken when a node fails and its `on_error` is `branch`. */
export const ERROR_HANDLE = 'error';

/** One line a node's code wrote to its console. */
export type LogLine = {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly text: string;
};

/** Where inside a loop something failed. */
export type FailureOrigin = {
  /** Index of the iteration in each loop around the node, the outermost first. */
  readonly iteration: readonly number[];
  readonly nodeId: string;
  /** What the node is called. */
  readonly label: string;
};

/** What running a node once led to. Made by {@link success}, {@link failure} and their like only. */
export type NodeResult =
  | {
      readonly kind: 'success';
      readonly output: JsonObject;
      /** Which outgoing handles are taken; the others are dead. */
      readonly handles: readonly string[];
      readonly consumedAiTokens: number;
      /** The part of it that executions consumed which the node waited for; absent for none. */
      readonly childAiTokens?: number;
      /** What the node's code wrote to its console. */
      readonly log?: readonly LogLine[];
    }
  | {
      readonly kind: 'failure';
      readonly code: string;
      readonly message: Message;
      /** Whether another attempt could end differently. */
      readonly retryable: boolean;
      /** The earliest useful next attempt as told by the other side, in milliseconds from now. */
      readonly retryAfterMs?: number;
      /** Ends the execution as failed whatever the node's `on_error` says. */
      readonly fatal: boolean;
      /** What is worth keeping although the node failed (an HTTP error's answer, say). */
      readonly output?: JsonObject;
      /** Of a loop: where inside it something failed. */
      readonly origin?: FailureOrigin;
      readonly consumedAiTokens: number;
      readonly childAiTokens?: number;
      readonly log?: readonly LogLine[];
    }
  | {
      readonly kind: 'wait';
      /** Milliseconds since the epoch. */
      readonly untilMs: number;
      /** The node's output once the time has come. */
      readonly output: JsonObject;
    }
  | {
      readonly kind: 'await_signal';
      /** Milliseconds since the epoch at which the wait is over without a signal; null for never. */
      readonly untilMs: number | null;
      /** What is shown as its output while it waits. */
      readonly output: JsonObject;
      readonly consumedAiTokens: number;
      readonly childAiTokens?: number;
    }
  | {
      /** The whole execution is completed; what else runs is aborted. */
      readonly kind: 'stop';
      readonly output: JsonObject;
    };

/** The node did its work. */
export function success(
  output: JsonObject,
  options: { handles?: readonly string[]; log?: readonly LogLine[] } & Partial<Tokens> = {},
): NodeResult {
  return {
    kind: 'success',
    output,
    handles: options.handles ?? [DEFAULT_HANDLE],
    ...tokensIn(options),
    ...(options.log === undefined ? {} : { log: options.log }),
  };
}

/** The node could not do its work. `message` is shown to the workflow's author. */
export function failure(
  code: string,
  message: Message,
  options: {
    retryable?: boolean;
    retryAfterMs?: number;
    fatal?: boolean;
    output?: JsonObject;
    origin?: FailureOrigin;
    log?: readonly LogLine[];
  } & Partial<Tokens> = {},
): NodeResult {
  return {
    kind: 'failure',
    code,
    message,
    retryable: options.retryable ?? false,
    fatal: options.fatal ?? false,
    ...tokensIn(options),
    ...(options.retryAfterMs === undefined ? {} : { retryAfterMs: options.retryAfterMs }),
    ...(options.output === undefined ? {} : { output: options.output }),
    ...(options.origin === undefined ? {} : { origin: options.origin }),
    ...(options.log === undefined ? {} : { log: options.log }),
  };
}

/** The node has nothing to do before `untilMs` (epoch milliseconds); it then succeeds with `output`. */
export function waitUntil(untilMs: number, output: JsonObject): NodeResult {
  return { kind: 'wait', untilMs, output };
}

/**
 * The node waits for what somebody else does: a callback, a decision, the end of a child execution. Its definition's
 * `resume` then says what came of it. Holds no worker.
 * @param untilMs epoch milliseconds; null for ever
 * @param output what is shown meanwhile
 */
export function awaitSignal(
  untilMs: number | null,
  output: JsonObject,
  options: Partial<Tokens> = {},
): NodeResult {
  return { kind: 'await_signal', untilMs, output, ...tokensIn(options) };
}

function tokensIn({ consumedAiTokens = 0, childAiTokens = 0 }: Partial<Tokens>): Tokens {
  return tokensOf({ consumedAiTokens, childAiTokens });
}

/** The execution is completed here and now; `output` is its result. */
export function stop(output: JsonObject): NodeResult {
  return { kind: 'stop', output };
}
