import {
  defineNode,
  failure,
  type JsonObject,
  type JsonValue,
  type NodeDefinition,
  type NodeRegistry,
  type NodeResult,
  success,
  waitUntil,
} from '../../src/index.ts';

/** What a test node does: so many retryable failures first, then its end. */
export interface Script {
  readonly failures: number;
  readonly end: 'success' | 'failure' | 'fatal' | 'wait';
  readonly handles: readonly string[];
  /** Consumed by each attempt that does not wait. */
  readonly tokens: number;
  readonly waitMs: number;
}

export const PLAIN_SCRIPT: Script = { failures: 0, end: 'success', handles: ['out'], tokens: 0, waitMs: 0 };

/**
 * Plays one attempt. Its output says what it saw, so that a wrong input anywhere shows in what comes after.
 * @param failures attempts that failed before and were recorded
 */
export function playScript(
  run: {
    nodeId: string;
    config: JsonObject;
    inputs: { readonly [nodeId: string]: JsonObject };
    nowMs: number;
  },
  failures: number,
): NodeResult {
  const script = { ...PLAIN_SCRIPT, ...(run.config.script as unknown as Partial<Script> | undefined) };
  const consumedAiTokens = script.tokens;
  if (failures < script.failures) return failure('flaky', 'not yet', { retryable: true, consumedAiTokens });
  if (script.end === 'failure') return failure('broken', 'for good', { consumedAiTokens });
  if (script.end === 'fatal') return failure('stop', 'at once', { fatal: true, consumedAiTokens });
  const seen = Object.entries(run.inputs).map(([id, output]) => `${id}=${describeOutput(output)}`);
  const see = run.config.see;
  const text = describeNode(run.nodeId, seen, typeof see === 'string' ? see : null);
  if (script.end === 'wait') return waitUntil(run.nowMs + script.waitMs, { text });
  return success({ text }, { handles: script.handles, consumedAiTokens });
}

/** How a node's output shows in the outputs of those after it. */
export function describeOutput(output: JsonObject): string {
  const { text } = output;
  return typeof text === 'string' ? text : 'error' in output ? 'error' : 'trigger';
}

export function describeNode(nodeId: string, seen: readonly string[], see: string | null): string {
  return `${nodeId}(${seen.join(',')})${see === null ? '' : `~${see}`}`;
}

const scriptSchema = { type: 'object', properties: { script: { type: 'object' }, see: { type: 'string' } } };

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
      ...((config.script as unknown as Partial<Script> | undefined)?.handles ?? []),
    ],
    examples: [],
    run: (context) =>
      playScript(
        { nodeId: context.node.id, config: context.config, inputs: context.inputs, nowMs: context.now() },
        context.attempt - 1,
      ),
  });
}

/** Gives back its config's `value`. */
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

const definitions = new Map(
  [
    scripted('test.trigger', 'trigger'),
    scripted('test.pure', 'pure'),
    scripted('test.effect', 'effect'),
    echo,
  ].map((definition) => [definition.type, definition]),
);

/** `test.trigger`, `test.pure`, `test.effect` (both play a script) and `test.echo`. */
export const testRegistry: NodeRegistry = (type) => definitions.get(type);
