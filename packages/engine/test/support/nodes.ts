import { verbatim } from '@millrace/messages';
import {
  awaitSignal,
  defineNode,
  failure,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NodeDefinition,
  type NodeRegistry,
  type NodeResult,
  type NodeSignal,
  stop,
  success,
  waitUntil,
} from '../../src/index.ts';

/** What a test node does: a number of retryable failures, then its end. */
export interface Script {
  readonly failures: number;
  /** `hang`: it ends only when aborted. */
  readonly end: 'success' | 'failure' | 'fatal' | 'wait' | 'signal' | 'stop' | 'hang';
  readonly handles: readonly string[];
  /** Consumed by each attempt that doesn't wait. */
  readonly tokens: number;
  readonly waitMs: number;
  /** How many signals it awaits, one after the other. */
  readonly rounds: number;
  /** Indexes of the iterations in which it fails for good instead; the node's config must contain `index`. */
  readonly failsAt: readonly number[];
}

/** Whether an attempt of a scripted node never ends by itself. */
export function isHanging(config: JsonObject): boolean {
  return (config.script as Partial<Script> | undefined)?.end === 'hang';
}

export const PLAIN_SCRIPT: Script = {
  failures: 0,
  end: 'success',
  handles: ['out'],
  tokens: 0,
  waitMs: 0,
  rounds: 1,
  failsAt: [],
};

/**
 * Plays one attempt. Its output describes its input, so that a wrong input anywhere shows in later nodes.
 * @param failures attempts that failed before and were recorded
 */
export function playScript(
  run: {
    nodeId: string;
    config: JsonObject;
    inputs: { readonly [nodeId: string]: JsonObject };
    inputOrder: readonly string[];
    nowMs: number;
  },
  failures: number,
): NodeResult {
  const script = { ...PLAIN_SCRIPT, ...(run.config.script as Partial<Script> | undefined) };
  const consumedAiTokens = script.tokens;
  if (failures < script.failures)
    return failure('flaky', verbatim('not yet'), { retryable: true, consumedAiTokens });
  if (script.end === 'failure' || script.failsAt.includes(run.config.index as number))
    return failure('broken', verbatim('for good'), { consumedAiTokens });
  if (script.end === 'fatal') return failure('stop', verbatim('at once'), { fatal: true, consumedAiTokens });
  const seen = run.inputOrder.map((id) => `${id}=${describeOutput(run.inputs[id] ?? {})}`);
  const see = run.config.see;
  const text = describeNode(run.nodeId, seen, typeof see === 'string' ? see : null);
  if (script.end === 'wait') return waitUntil(run.nowMs + script.waitMs, { text });
  if (script.end === 'stop') return stop({ text });
  if (script.end === 'hang') throw new Error('an attempt that hangs has no end to play');
  if (script.end === 'signal') {
    return awaitSignal(endOfWait(script, run.nowMs), { text, round: 1 }, { consumedAiTokens });
  }
  return success({ text }, { handles: script.handles, consumedAiTokens });
}

function endOfWait({ waitMs }: Script, nowMs: number): number | null {
  return waitMs === 0 ? null : nowMs + waitMs;
}

/**
 * Which signal a scripted node is about to await, counted from 1; null when it awaits none, or a time.
 * @param waiting its output while it awaited the previous one; null when it starts
 */
export function awaitedRound(config: JsonObject, waiting: JsonObject | null): number | null {
  const script = { ...PLAIN_SCRIPT, ...(config.script as Partial<Script> | undefined) };
  const round = waiting === null ? 1 : Number(waiting.round) + 1;
  return script.end === 'signal' && script.waitMs === 0 && round <= script.rounds ? round : null;
}

/** Handles a scripted node's signal, which its output text describes. */
export function playSignal(
  config: JsonObject,
  signal: NodeSignal,
  waiting: JsonObject,
  nowMs: number,
): NodeResult {
  const script = { ...PLAIN_SCRIPT, ...(config.script as Partial<Script> | undefined) };
  const payload = signal.kind === 'timeout' ? 'timeout' : JSON.stringify(signal.payload);
  const text = `${waiting.text as string}!${payload}`;
  const round = Number(waiting.round);
  if (round < script.rounds) return awaitSignal(endOfWait(script, nowMs), { text, round: round + 1 });
  return success({ text }, { handles: script.handles });
}

/** How a node's output appears in the outputs of later nodes. */
export function describeOutput(output: JsonObject): string {
  const { text, items, errors, iterations, last, done } = output;
  if (typeof text === 'string') return text;
  if (isJsonArray(items) && isJsonArray(errors)) {
    const failed = errors.map((error) => `${(error as JsonObject).index as number}`);
    return `[${items.map(describeItem).join(';')}|${failed.join()}]`;
  }
  if (typeof iterations === 'number') return `${iterations}x${describeItem(last ?? null)}${done as boolean}`;
  if ('error' in output) return 'error';
  return 'data' in output ? 'trigger' : describeItem(output);
}

/** How an iteration's result appears in the output of its loop. */
function describeItem(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return '-';
  if (typeof value.text === 'string' || 'error' in value || 'items' in value || 'iterations' in value)
    return describeOutput(value);
  const members = Object.entries(value).map(([id, output]) => `${id}=${describeItem(output)}`);
  return `{${members.sort().join()}}`;
}

export function describeNode(nodeId: string, seen: readonly string[], see: string | null): string {
  return `${nodeId}(${seen.join(',')})${see === null ? '' : `~${see}`}`;
}

const scriptSchema = {
  type: 'object',
  properties: { script: { type: 'object' }, see: { type: 'string' }, index: { type: 'integer' } },
};

function scripted(type: string, kind: NodeDefinition['kind']): NodeDefinition {
  return defineNode({
    type,
    title: type,
    description: 'Plays the script in its config.',
    icon: 'flask-conical',
    kind,
    configSchema: scriptSchema,
    handles: (config) => [
      ...['out', 'left', 'right'],
      ...((config.script as Partial<Script> | undefined)?.handles ?? []),
    ],
    ...(kind === 'trigger'
      ? { addressOf: ({ address }) => (typeof address === 'string' ? address : null) }
      : {}),
    examples: [],
    run: (context) =>
      playScript(
        {
          ...{ nodeId: context.node.id, config: context.config, nowMs: context.now() },
          ...{ inputs: context.inputs, inputOrder: context.inputOrder },
        },
        context.attempt - 1,
      ),
    resume: (context, signal, waiting) => playSignal(context.config, signal, waiting, context.now()),
  });
}

/** Starts the workflow its config names and waits for its end. Only usable with a store to start it in. */
const child = defineNode({
  type: 'test.child',
  title: 'Child',
  description: 'Starts another workflow and waits for its end.',
  icon: 'workflow',
  kind: 'effect',
  configSchema: {
    type: 'object',
    properties: { workflow: { type: 'integer' }, waits: { type: 'boolean' }, index: { type: 'integer' } },
  },
  examples: [],
  run: () => failure('not_run', verbatim('there is no store')),
  resume: () => failure('not_run', verbatim('there is no store')),
});

/** Returns its config's `value`. */
const echo = defineNode<{ readonly value: JsonValue }>({
  type: 'test.echo',
  title: 'Echo',
  description: 'Gives back its value.',
  icon: 'repeat',
  kind: 'pure',
  configSchema: {
    type: 'object',
    required: ['value'],
    additionalProperties: false,
    properties: {
      value: {},
      url: { type: 'string', format: 'uri' },
      count: { type: 'integer', minimum: 1 },
      mode: { enum: ['fast', 'slow'] },
      options: { type: 'object' },
      target: { anyOf: [{ type: 'integer' }, { type: 'object', required: ['id'] }] },
    },
  },
  examples: [],
  run: (context) => success({ value: context.config.value }),
});

/** Has a member for each kind of deferred templates, and its own retry policy. */
const tool = defineNode({
  type: 'test.tool',
  title: 'Tool',
  description: 'Renders what it was given.',
  icon: 'wrench',
  kind: 'effect',
  configSchema: {
    type: 'object',
    additionalProperties: false,
    properties: { text: { type: 'string' }, count: { type: 'integer' }, answer: { type: 'object' } },
  },
  deferred: { count: 'arguments', answer: 'end' },
  defaultRetry: { maxAttempts: 3, backoffMs: 400, maxBackoffMs: 800 },
  examples: [],
  run: (context) => success({ value: context.render(context.config.count ?? null, { n: 1 }) }),
});

/** Runs its body for each of its `items`. */
const forEach = defineNode({
  type: 'core.for_each',
  title: 'For each',
  description: 'Runs its body for each item.',
  icon: 'repeat',
  kind: 'loop',
  configSchema: {
    type: 'object',
    required: ['items'],
    additionalProperties: false,
    properties: {
      items: {},
      concurrency: { type: 'integer' },
      on_item_error: { enum: ['fail', 'collect'] },
      result: {},
    },
  },
  deferred: { result: 'iteration' },
  loop: {
    begin: ({ items, concurrency = 1, on_item_error: onItemError }) =>
      isJsonArray(items)
        ? {
            items,
            maxIterations: items.length,
            concurrency: Number(concurrency),
            onItemError: onItemError === 'collect' ? 'collect' : 'fail',
          }
        : (failure('invalid_config', verbatim('items is no list')) as never),
  },
  examples: [],
  run: () => failure('not_run', verbatim('a loop is not run')),
});

/** Repeats its body until `until` is true. */
const repeat = defineNode({
  type: 'core.repeat',
  title: 'Repeat',
  description: 'Repeats its body.',
  icon: 'repeat',
  kind: 'loop',
  configSchema: {
    type: 'object',
    properties: {
      until: { type: 'boolean' },
      max_iterations: { type: 'integer' },
      on_limit: { enum: ['fail', 'continue'] },
      result: {},
    },
  },
  deferred: { until: 'iteration', result: 'iteration' },
  loop: {
    begin: ({ max_iterations: maxIterations = 100, on_limit: onLimit }) => ({
      items: null,
      maxIterations: Number(maxIterations),
      concurrency: 1,
      onItemError: 'fail',
      onLimit: onLimit === 'continue' ? 'continue' : 'fail',
    }),
    isDone: ({ until }) => until === true,
  },
  examples: [],
  run: () => failure('not_run', verbatim('a loop is not run')),
});

const definitions = new Map(
  [
    scripted('test.trigger', 'trigger'),
    scripted('test.pure', 'pure'),
    scripted('test.effect', 'effect'),
    child,
    echo,
    tool,
    forEach,
    repeat,
  ].map((definition) => [definition.type, definition]),
);

/** `test.trigger`, `test.pure`, `test.effect` (both play a script), `test.echo`, `test.tool`, `test.child` and the two loops. */
export const testRegistry: NodeRegistry = (type) => definitions.get(type);
