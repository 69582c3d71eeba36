import { isJsonObject, type JsonObject } from './json.ts';
import { checkJsonSize } from './json-size.ts';
import { DEFAULT_HANDLE, failure, type NodeResult } from './node.ts';

/** Longer messages of failures are cut; they stand in every reading of the execution. */
const MAX_MESSAGE_LENGTH = 10_000;

/** Turns a result that cannot be stored into a failure. Nodes are code: their word is not enough. */
export function checkResult(result: NodeResult, maxBytes: number): NodeResult {
  // A node's code may have ended with anything at all.
  const kind: string | undefined = (result as Partial<NodeResult> | undefined)?.kind;
  if (kind === 'success') return checkSuccess(result as Result<'success'>, maxBytes);
  if (kind === 'failure') return checkFailure(result as Result<'failure'>, maxBytes);
  if (kind === 'wait') return checkWait(result as Result<'wait'>, maxBytes);
  return failure('invalid_output', 'The node ended without a result.');
}

type Result<Kind> = Extract<NodeResult, { kind: Kind }>;

function checkSuccess(result: Result<'success'>, maxBytes: number): NodeResult {
  const consumedAiTokens = toCount(result.consumedAiTokens);
  const fault = checkOutput(result.output, maxBytes);
  if (fault !== null) return failure(fault.code, fault.message, { consumedAiTokens });
  if (consumedAiTokens === result.consumedAiTokens && Array.isArray(result.handles)) return result;
  const handles = Array.isArray(result.handles) ? result.handles : [DEFAULT_HANDLE];
  return { ...result, handles, consumedAiTokens };
}

function checkFailure(result: Result<'failure'>, maxBytes: number): NodeResult {
  const { output, ...rest } = result;
  const checked = {
    ...rest,
    code: String(result.code),
    message: String(result.message).slice(0, MAX_MESSAGE_LENGTH),
    consumedAiTokens: toCount(result.consumedAiTokens),
  };
  return output === undefined || checkOutput(output, maxBytes) !== null ? checked : { ...checked, output };
}

function checkWait(result: Result<'wait'>, maxBytes: number): NodeResult {
  const fault = checkOutput(result.output, maxBytes);
  if (fault !== null) return failure(fault.code, fault.message);
  return Number.isFinite(result.untilMs)
    ? result
    : failure('invalid_output', 'The time the node waits for is not a number.');
}

function checkOutput(output: JsonObject, maxBytes: number): { code: string; message: string } | null {
  if (!isJsonObject(output)) {
    return { code: 'invalid_output', message: 'The output of the node is not an object.' };
  }
  const size = checkJsonSize(output, maxBytes);
  if (size === 'fits') return null;
  return size === 'too_large'
    ? {
        code: 'output_too_large',
        message: `The output of the node is larger than ${maxBytes} bytes. Let it pass on less.`,
      }
    : {
        code: 'output_too_deep',
        message: 'The output of the node is nested too deeply. Let it pass on something flatter.',
      };
}

function toCount(tokens: number): number {
  return Number.isSafeInteger(tokens) && tokens > 0 ? tokens : 0;
}
