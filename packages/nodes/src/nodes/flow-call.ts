import {
  awaitSignal,
  describeExecutionError,
  explainFailure,
  failure,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NodeContext,
  type NodeResult,
  success,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { checkedNode } from '@millrace/node-kit/define';
import { expiryText } from '@millrace/node-kit/waits';
import { Type } from 'typebox';

const MAX_TIMEOUT_S = 31_536_000;

export const flowCall = checkedNode({
  type: 'flow.call',
  title: 'Call a workflow',
  description:
    'Starts the saved version of another workflow of the organisation and optionally waits for it to finish. The input must match its input schema. Calls can be nested up to 10 deep. If this execution ends or is cancelled, the one it waits for is cancelled, too.',
  icon: 'workflow',
  kind: 'effect',
  properties: {
    workflow_id: Type.Integer({
      title: 'Workflow',
      description: 'The workflow to start.',
      minimum: 0,
      default: 0,
      'x-workflow': true,
      'x-filled': true,
    }),
    input: Type.Unsafe<JsonValue>({
      title: 'Input',
      description: 'The called workflow reads it as {{trigger.data}}. Any JSON value.',
      default: {},
    }),
    wait: Type.Boolean({
      title: 'Wait for it to finish',
      description:
        'On: the output is the result of the workflow, and if it fails, this node fails with child_failed, which can be retried. Off: this node finishes immediately.',
      default: true,
    }),
    timeout_s: Type.Union([Type.Integer({ minimum: 1, maximum: MAX_TIMEOUT_S }), Type.Null()], {
      title: 'Maximum wait',
      description:
        'After how many seconds the node fails with child_timeout; the other execution continues until this one ends. Empty: no limit.',
      default: null,
    }),
  },
  required: ['workflow_id'],
  form: { main: ['workflow_id', 'input', 'wait', 'timeout_s'] },
  synonyms: ['subworkflow', 'sub-workflow', 'execute workflow', 'child', 'function', 'reuse'],
  examples: [
    {
      title: 'Wait for the result',
      config: { workflow_id: 12, input: { order: '{{trigger.data.id}}' } },
      trigger: { id: 17 },
      expect: { awaitsSignal: true, output: { execution_id: 18, workflow_id: 12, workflow_version: 3 } },
    },
    {
      title: 'Start it and continue',
      config: { workflow_id: 12, input: { order: '{{trigger.data.id}}' }, wait: false },
      trigger: { id: 17 },
      expect: { output: { execution_id: 18, workflow_id: 12, workflow_version: 3 } },
    },
  ],
  async run({ workflow_id: workflowId, input, wait, timeout_s: timeoutS }, context) {
    if (workflowId === 0) {
      return failure('invalid_config', message('nodes.no_workflow'));
    }
    const order = { workflowId, input, waits: wait, callKey: callKeyOf(context.previousOutput) };
    const { executionId, workflowVersion } = await context.workflows.start(order);
    const output = {
      execution_id: executionId,
      workflow_id: workflowId,
      workflow_version: workflowVersion,
    };
    if (!wait) return success(output);
    if (timeoutS === null) return awaitSignal(null, output);
    const untilMs = context.now() + timeoutS * 1_000;
    return awaitSignal(untilMs, { ...output, expires_at: expiryText(untilMs) });
  },
  async resume({ timeout_s: timeoutS }, context, signal, waiting) {
    if (signal.kind === 'timeout') {
      const executionId = idIn(waiting);
      return failure(
        'child_timeout',
        message('nodes.child_timeout', { id: String(executionId), seconds: String(timeoutS) }),
        { output: { execution_id: executionId } },
      );
    }
    const executionId = idIn(waiting) ?? 0;
    // From a child that an earlier attempt of the loop around this node had started.
    if (idIn(signal.payload) !== executionId) return awaitSignal(expiryOf(waiting), waiting);
    return resultOf(context, executionId);
  },
});

/**
 * An attempt after a child's failure starts another child; one after a crash finds its child again, because the output of a failed attempt
 * is stored and that of a crashed one isn't.
 */
function callKeyOf(previousOutput: JsonObject | null): string {
  const failed = previousOutput === null ? null : idIn(previousOutput);
  return failed === null ? 'call' : `call after ${failed}`;
}

async function resultOf(context: NodeContext, executionId: number): Promise<NodeResult> {
  const { status, output, error, consumedAiTokens } = await context.workflows.result(executionId);
  const child = { execution_id: executionId, status };
  const tokens = { consumedAiTokens, childAiTokens: consumedAiTokens };
  if (status === 'completed') return success({ ...child, output }, tokens);
  if (status === 'cancelled') {
    return failure('child_cancelled', message('nodes.child_cancelled', { id: executionId }), {
      output: child,
      ...tokens,
    });
  }
  if (error === null) throw new Error(`execution ${executionId} sent its end but is ${status}`);
  const said = message('nodes.child_failed', { id: executionId, failure: explainFailure(error) });
  return failure('child_failed', said, {
    ...tokens,
    retryable: true,
    output: { ...child, error: describeExecutionError(error) },
  });
}

function expiryOf({ expires_at: text }: JsonObject): number | null {
  return typeof text === 'string' ? Date.parse(text) : null;
}

function idIn(value: JsonValue): number | null {
  if (!isJsonObject(value)) return null;
  return typeof value.execution_id === 'number' ? value.execution_id : null;
}
