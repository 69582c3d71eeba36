import {
  failure,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NodeContext,
  type NodeResult,
  success,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { openFileBody } from '@millrace/node-kit/http/file-body';
import { buildRequest, describeRequest } from '@millrace/node-kit/http/request';
import { ask } from './ask.ts';
import { fileContents, storeFile } from './file-contents.ts';
import { lookUp } from './look-up.ts';
import { fetchPages } from './pages.ts';
import { prepareSigned } from './path-token.ts';
import { MAX_LARGE_ANSWER_BYTES, type OperationCall, requestOf } from './request.ts';
import { fillIn } from './templates.ts';

/**
 * Runs an operation: one request after what it looks up, or one for each page.
 * @param limit the number of items that are wanted, of an operation with pages
 * @throws NodeProblem, ServiceError, RenderLimitError
 */
export async function runOperation(
  given: OperationCall,
  limit: number,
  context: NodeContext,
): Promise<NodeResult> {
  const { lookup, files } = given.operation;
  // Looking up only reads, so test mode does it, too.
  const found = lookup === undefined ? given : await lookUp(given, lookup, context);
  if ('kind' in found) return found;
  const args: JsonObject =
    files === undefined ? found.args : { ...found.args, files: await fileContents(found, files, context) };
  const call: OperationCall = { ...found, args };
  const { operation } = call;
  if (operation.effect && context.execution.isTestMode) return describe(call, context);
  const { pagination } = operation;
  if (pagination !== undefined) {
    return fetchPages(call, pagination, limit, (page) => ask(call, context, page));
  }
  return askOnce(call, context);
}

async function askOnce(call: OperationCall, context: NodeContext): Promise<NodeResult> {
  const { operation, budget } = call;
  const { stores } = operation;
  const size = stores === undefined ? {} : { maxAnswerBytes: MAX_LARGE_ANSWER_BYTES };
  const answer = await ask({ ...call, ...size }, context);
  if (answer.kind === 'failure') return answer;
  const args: { [name: string]: JsonValue } = { ...call.args, response: answer.response };
  if (stores !== undefined) {
    const stored = await storeFile({ ...call, args }, stores, context);
    if ('kind' in stored) return stored;
    args.stored = stored.file;
  }
  const output = fillIn(operation.output ?? null, args, budget);
  if (isJsonObject(output)) return success(output);
  const { title: service } = call.connector;
  return failure('invalid_response', message('nodes.connector_no_object', { service }), {
    output: { status: answer.response.status ?? null, body: answer.response.body ?? null },
  });
}

/** What test mode shows instead of sending. */
async function describe(call: OperationCall, context: NodeContext): Promise<NodeResult> {
  const config = await requestOf(call);
  const wire = buildRequest(config, context.idempotencyKey, await openFileBody(config, context));
  const { shown } = await prepareSigned(call.connector, call.operation, wire, config, context);
  const request: JsonObject = describeRequest({ ...wire, ...shown }, config);
  return success({ dry_run: true, service: call.connector.id, request });
}
