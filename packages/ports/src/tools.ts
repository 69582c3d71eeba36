import { createHash } from 'node:crypto';
import {
  failure,
  isWork,
  type Meter,
  type NodeContext,
  type NodeDefinition,
  type NodeRegistry,
  type NodeResult,
  type NodeServices,
  type OpenFile,
  ServiceError,
  type ToolService,
  type Work,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { reasonOf } from '@millrace/messages/explained-error';
import { drive, TooExpensiveError } from '@millrace/runtime/drive';
import { maskSecrets } from '@millrace/runtime/mask';
import { type Caller, type Services, servicesFor } from '@millrace/runtime/node-services';

type ToolResult = Awaited<ReturnType<ToolService['run']>>;

/** Runs nodes of the catalogue inside other nodes. */
export function createToolService(
  registry: NodeRegistry,
  services: () => Services,
  limits: { readonly nodeSteps: number },
): (caller: Caller, context: NodeContext) => ToolService {
  return (caller, context) => ({
    async run({ type, config, callKey, aiTokensLeft = context.aiTokensLeft }) {
      const definition = allowedDefinition(caller.types ?? registry, type);
      const secrets = new Set<string>();
      const inner = innerCaller(caller, callKey, secrets);
      // Declared before it exists, because tools of the tool see it.
      const made: { context?: NodeContext } = {};
      const ofInner = servicesFor(services(), inner, () => made.context ?? context);
      const own = { config, idempotencyKey: inner.idempotencyKey, aiTokensLeft };
      made.context = innerContext(context, definition, own, ofInner);
      // Not only at the end of the outer node: an agent passes its tools' output on to a model.
      const work = { maxSteps: limits.nodeSteps, context: made.context };
      const result = await runInner(definition, work);
      return checkResult(await finish(maskSecrets(result, secrets), work), type);
    },
  });
}

/** @throws ServiceError `tool_not_allowed` */
function allowedDefinition(registry: NodeRegistry, type: string): NodeDefinition {
  const definition = registry(type);
  if (definition === undefined) throw refusal(message('ports.tool_unknown', { type }));
  if (definition.kind === 'trigger') throw refusal(message('ports.tool_trigger', { type }));
  if (definition.kind === 'loop') throw refusal(message('ports.tool_loop', { type }));
  if (definition.resume !== undefined) throw refusal(message('ports.tool_waiting', { type }));
  return definition;
}

function refusal(reason: Message): ServiceError {
  return new ServiceError('tool_not_allowed', reason);
}

/** The inner key combines the outer node's key and the call. */
function innerCaller(caller: Caller, callKey: string, secrets: Set<string>): Caller {
  const suffix = createHash('sha256').update(callKey).digest('hex').slice(0, 16);
  const onSecret = (secret: string): void => {
    secrets.add(secret);
    caller.onSecret(secret);
  };
  return { ...caller, idempotencyKey: `${caller.idempotencyKey}-${suffix}`, isTool: true, onSecret };
}

function innerContext(
  outer: NodeContext,
  definition: NodeDefinition,
  given: Pick<NodeContext, 'config' | 'idempotencyKey' | 'aiTokensLeft'>,
  services: NodeServices,
): NodeContext {
  const own = {
    ...given,
    node: { id: outer.node.id, label: definition.title },
    execution: outer.execution,
    triggerData: outer.triggerData,
    inputs: outer.inputs,
    inputOrder: outer.inputOrder,
    attempt: outer.attempt,
    previousOutput: null,
    iteration: outer.iteration,
    timezone: outer.timezone,
    // Its config is already rendered: its contents are now data, and data is never a template.
    render: (template: Parameters<NodeContext['render']>[0]) => template,
    signal: outer.signal,
    http: outer.http,
    now: () => outer.now(),
    inTurns: <Result>(make: (meter: Meter) => Work<Result>) => outer.inTurns(make),
    readWhole: (file: OpenFile) => outer.readWhole(file),
  };
  // The services stay getters, so that only those used are created.
  return Object.defineProperties(own, Object.getOwnPropertyDescriptors(services)) as typeof own &
    NodeServices;
}

interface InnerWork {
  readonly context: NodeContext;
  readonly maxSteps: number;
}

async function runInner(definition: NodeDefinition, work: InnerWork): Promise<NodeResult> {
  try {
    const running = definition.run(work.context);
    return await (isWork(running) ? finish(running, work) : running);
  } catch (error) {
    if (error instanceof TooExpensiveError) return failure(error.code, error.explanation);
    const explanation = message('ports.tool_failed', { type: definition.type, reason: reasonOf(error) });
    return failure('node_error', explanation);
  }
}

function finish(work: Work<NodeResult>, { context, maxSteps }: InnerWork): NodeResult | Promise<NodeResult> {
  const holder = { executionId: context.execution.id, nodeId: context.node.id };
  return drive(work, { holder, maxSteps, isAborted: () => context.signal.aborted });
}

function checkResult(result: NodeResult, type: string): ToolResult {
  if (result.kind === 'success' || result.kind === 'failure') return result;
  throw refusal(
    result.kind === 'stop' ? message('ports.tool_stop', { type }) : message('ports.tool_delay', { type }),
  );
}
