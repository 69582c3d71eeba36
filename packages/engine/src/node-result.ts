import type { Message } from '@millrace/messages';
import type { JsonObject } from '@millrace/values/json';
import { type Tokens, tokensOf } from './tokens.ts';

/** The default handle of an edge. */
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
  /** Index of the iteration in each loop around the node, outermost first. */
  readonly iteration: readonly number[];
  readonly nodeId: string;
  /** The node's display name. */
  readonly label: string;
};

/** The result of running a node once. Created only by {@link success}, {@link failure} and so on. */
export type NodeResult =
  | {
      readonly kind: 'success';
      readonly output: JsonObject;
      /** Which outgoing handles are taken; the others are dead. */
      readonly handles: readonly string[];
      readonly consumedAiTokens: number;
      /** The share of executions the node waited for; absent for none. */
      readonly childAiTokens?: number;
      /** The console output of the node's code. */
      readonly log?: readonly LogLine[];
    }
  | {
      readonly kind: 'failure';
      readonly code: string;
      readonly message: Message;
      /** Whether another attempt could succeed. */
      readonly retryable: boolean;
      /** The earliest useful next attempt according to the remote side, in milliseconds from now. */
      readonly retryAfterMs?: number;
      /** Fails the execution regardless of the node's `on_error`. */
      readonly fatal: boolean;
      /** Output worth keeping although the node failed (such as an HTTP error response). */
      readonly output?: JsonObject;
      /** For a loop: where inside it something failed. */
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
      /** Milliseconds since the epoch at which the wait ends without a signal; null for never. */
      readonly untilMs: number | null;
      /** Shown as its output while it waits. */
      readonly output: JsonObject;
      readonly consumedAiTokens: number;
      readonly childAiTokens?: number;
    }
  | {
      /** The wait is over, and the node has more to do: `run` is called again, once this is stored. Only `resume` may return it. */
      readonly kind: 'again';
      /** What `run` gets as its `previousOutput`. */
      readonly output: JsonObject;
    }
  | {
      /** Completes the whole execution; other running nodes are aborted. */
      readonly kind: 'stop';
      readonly output: JsonObject;
    };

/** The attempt has done nothing, because its first call has to wait for the host. */
export type PutOff = {
  readonly kind: 'put_off';
  readonly host: string;
  /** Milliseconds since the epoch. */
  readonly untilMs: number;
};

/** How an attempt has ended: with the node's result, unless the driver put it off. */
export type AttemptResult = NodeResult | PutOff;

/** The node succeeded. */
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

export type Failure = Extract<NodeResult, { kind: 'failure' }>;

/** The node failed. `message` is shown to the workflow's author. */
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
): Failure {
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

/** The node is idle until `untilMs` (epoch milliseconds); it then succeeds with `output`. */
export function waitUntil(untilMs: number, output: JsonObject): NodeResult {
  return { kind: 'wait', untilMs, output };
}

/**
 * The node waits for something external: a callback, a decision, the end of a child execution. Its definition's `resume` then handles the
 * signal. Occupies no worker.
 * @param untilMs epoch milliseconds; null for indefinitely
 * @param output shown meanwhile
 */
export function awaitSignal(
  untilMs: number | null,
  output: JsonObject,
  options: Partial<Tokens> = {},
): NodeResult {
  return { kind: 'await_signal', untilMs, output, ...tokensIn(options) };
}

/**
 * What `resume` returns when the node has effects after its wait: its `run` is called again with `output` as `previousOutput`. That is
 * stored first, so that neither a crash nor another attempt waits a second time.
 */
export function runAgain(output: JsonObject): NodeResult {
  return { kind: 'again', output };
}

function tokensIn({ consumedAiTokens = 0, childAiTokens = 0 }: Partial<Tokens>): Tokens {
  return tokensOf({ consumedAiTokens, childAiTokens });
}

/** The attempt did nothing and is repeated at `untilMs` (epoch milliseconds). */
export function putOff(host: string, untilMs: number): PutOff {
  return { kind: 'put_off', host, untilMs };
}

/** Completes the execution immediately with `output` as its result. */
export function stop(output: JsonObject): NodeResult {
  return { kind: 'stop', output };
}
