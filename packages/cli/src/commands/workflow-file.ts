import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { CreateWorkflow } from '@millrace/api/public/workflows/schema';
import { findUnsupportedCharacters, isJsonObject, type JsonValue, type NodeRegistry } from '@millrace/engine';
import { parseJsonText } from '@millrace/http/body';
import { createValidatorCompiler, unsupportedCharacter } from '@millrace/http/validation';
import { type CheckedFlow, checkFlow } from '@millrace/service/workflows/rules';
import type { Config } from '../settings/config.ts';
import { unreadable } from './unreadable.ts';

/** A workflow from a file that the API would accept. */
export interface WorkflowFile {
  readonly body: CreateWorkflow;
  readonly flow: CheckedFlow;
}

/**
 * Reads and checks a workflow as `POST /workflows` would.
 * @param path `-` reads standard input
 * @throws RefusedError `file_unreadable`
 * @throws ApiError with a pointer per error
 */
export async function readWorkflowFile(
  path: string,
  config: Config,
  registry: NodeRegistry,
): Promise<WorkflowFile> {
  const source = (await readText(path)).replace(/^\uFEFF/, '');
  return checkWorkflow(parseJsonText(source, config.limits.jsonDepth), config, registry);
}

/**
 * Checks a workflow as `POST /workflows` would.
 * @throws ApiError with a pointer per error
 */
export function checkWorkflow(value: JsonValue, config: Config, registry: NodeRegistry): WorkflowFile {
  const body = checkBody(value);
  return { body, flow: checkFlow(body.flow_data as JsonValue, registry, config.limits.nodes) };
}

async function readText(path: string): Promise<string> {
  try {
    return path === '-' ? await readAll(process.stdin) : await readFile(path, 'utf8');
  } catch (error) {
    throw unreadable(error, 'workflow file');
  }
}

/** The validator of the API's routes, so that files and requests meet the same standard. */
function checkBody(value: JsonValue): CreateWorkflow {
  const validate = createValidatorCompiler()({
    schema: CreateWorkflow,
    method: 'POST',
    url: '/',
    httpPart: 'body',
  });
  const outcome: unknown = validate(value);
  if (outcome !== true) throw refusalIn(outcome);
  const pointer = findUnsupportedCharacters(value);
  if (pointer !== null) throw unsupportedCharacter(pointer);
  if (!isJsonObject(value)) throw new Error('the validator accepted something other than an object');
  return value as CreateWorkflow;
}

function refusalIn(outcome: unknown): Error {
  const error =
    typeof outcome === 'object' && outcome !== null && 'error' in outcome ? outcome.error : undefined;
  return error instanceof Error ? error : new Error('the workflow could not be checked');
}
