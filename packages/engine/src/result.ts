import { type Message, mapTexts, message, readMessage } from '@millrace/messages';
import { isJsonObject, type JsonObject } from '@millrace/values/json';
import { checkJsonSize } from '@millrace/values/json-size';
import { DEFAULT_HANDLE, failure, type LogLine, type NodeResult } from './node-result.ts';
import { type Tokens, tokensOf } from './tokens.ts';

/** Longer failure messages are truncated; they are part of every read of the execution. */
const MAX_MESSAGE_LENGTH = 10_000;
const MAX_LOG_LINES = 1_000;
const MAX_LOG_LENGTH = 100_000;
const LOG_LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error'] satisfies LogLine['level'][];

/** Turns a result that can't be stored into a failure. Nodes are code: their results aren't trusted. */
export function checkResult(result: NodeResult, maxBytes: number): NodeResult {
  // A node's code may have returned anything at all.
  const kind: string | undefined = (result as Partial<NodeResult> | undefined)?.kind;
  if (kind === 'success') return checkSuccess(result as Result<'success'>, maxBytes);
  if (kind === 'failure') return checkFailure(result as Result<'failure'>, maxBytes);
  if (kind === 'wait') return checkWait(result as Result<'wait'>, maxBytes);
  if (kind === 'await_signal') return checkAwait(result as Result<'await_signal'>, maxBytes);
  if (kind === 'again') return checkPlain(result as Result<'again'>, maxBytes);
  if (kind === 'stop') return checkPlain(result as Result<'stop'>, maxBytes);
  return failure('invalid_output', message('run.no_result'));
}

type Result<Kind> = Extract<NodeResult, { kind: Kind }>;

function checkSuccess(result: Result<'success'>, maxBytes: number): NodeResult {
  const tokens = checkTokens(result);
  const fault = checkOutput(result.output, maxBytes);
  if (fault !== null) return failure(fault.code, fault.message, { ...tokens, ...keptLog(result) });
  const isSound =
    tokens.consumedAiTokens === result.consumedAiTokens &&
    tokens.childAiTokens === result.childAiTokens &&
    Array.isArray(result.handles);
  if (isSound && result.log === undefined) return result;
  const handles = Array.isArray(result.handles) ? result.handles : [DEFAULT_HANDLE];
  const { log: _, childAiTokens: __, ...rest } = result;
  return { ...rest, handles, ...tokens, ...keptLog(result) };
}

function keptLog({ log }: { readonly log?: readonly LogLine[] }): { log?: LogLine[] } {
  return log === undefined ? {} : { log: checkLog(log) };
}

function checkFailure(result: Result<'failure'>, maxBytes: number): NodeResult {
  const { output, log, childAiTokens: _, ...rest } = result;
  const checked = {
    ...rest,
    ...keptLog(result),
    code: String(result.code),
    message: mapTexts(readMessage(result.message), (text) => text.slice(0, MAX_MESSAGE_LENGTH)),
    ...checkTokens(result),
  };
  return output === undefined || checkOutput(output, maxBytes) !== null ? checked : { ...checked, output };
}

function checkWait(result: Result<'wait'>, maxBytes: number): NodeResult {
  const fault = checkOutput(result.output, maxBytes);
  if (fault !== null) return failure(fault.code, fault.message);
  return Number.isFinite(result.untilMs) ? result : failure('invalid_output', message('run.wait_not_a_time'));
}

function checkAwait(result: Result<'await_signal'>, maxBytes: number): NodeResult {
  const tokens = checkTokens(result);
  const fault = checkOutput(result.output, maxBytes);
  if (fault !== null) return failure(fault.code, fault.message, tokens);
  const { childAiTokens: _, ...rest } = result;
  if (result.untilMs === null || Number.isFinite(result.untilMs)) return { ...rest, ...tokens };
  return failure('invalid_output', message('run.wait_not_a_time'), tokens);
}

function checkPlain(result: Result<'stop' | 'again'>, maxBytes: number): NodeResult {
  const fault = checkOutput(result.output, maxBytes);
  return fault === null ? result : failure(fault.code, fault.message);
}

/** The first lines of a log, as far as they are valid and within the limit. */
function checkLog(log: readonly LogLine[]): LogLine[] {
  const kept: LogLine[] = [];
  let left = MAX_LOG_LENGTH;
  for (const { level, text } of Array.isArray(log) ? (log as readonly LogLine[]) : []) {
    if (typeof text !== 'string' || !LOG_LEVELS.includes(level)) continue;
    left -= text.length;
    if (left < 0 || kept.length === MAX_LOG_LINES) break;
    kept.push({ level, text });
  }
  return kept;
}

/** Why a value can't be a node's output; null when it can. */
export function checkOutput(output: JsonObject, maxBytes: number): { code: string; message: Message } | null {
  if (!isJsonObject(output)) {
    return { code: 'invalid_output', message: message('run.output_not_an_object') };
  }
  const size = checkJsonSize(output, maxBytes);
  if (size === 'fits') return null;
  return size === 'too_large'
    ? { code: 'output_too_large', message: message('run.output_too_large', { max: maxBytes }) }
    : { code: 'output_too_deep', message: message('run.output_too_deep') };
}

/** Children can't have consumed more than the total. */
function checkTokens(given: Tokens): Tokens {
  const consumedAiTokens = toCount(given.consumedAiTokens);
  const childAiTokens = Math.min(toCount(given.childAiTokens ?? 0), consumedAiTokens);
  return tokensOf({ consumedAiTokens, childAiTokens });
}

function toCount(tokens: number): number {
  return Number.isSafeInteger(tokens) && tokens > 0 ? tokens : 0;
}
