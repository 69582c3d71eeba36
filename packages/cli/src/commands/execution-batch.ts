import { setTimeout as pause } from 'node:timers/promises';
import { receiptOf } from '@millrace/api/public/executions/start-response';
import type { PgDatabase } from '@millrace/database/pool';
import {
  inputSchemaOf,
  type JsonObject,
  type JsonSchema,
  jsonDepthExceeds,
  stringifyJson,
} from '@millrace/engine';
import { ApiError, notFound } from '@millrace/errors/errors';
import { insertAudit } from '@millrace/identity/audit/store';
import { inEnglish } from '@millrace/messages/english';
import { registry } from '@millrace/nodes';
import { typesOfVersions } from '@millrace/own-connectors/types';
import { NO_EXECUTOR } from '@millrace/runtime/executor';
import { createPlanCache, type PlanCache } from '@millrace/runtime/plans';
import { createStarter } from '@millrace/service/executions/accept';
import { type BatchResult, createStartBatch, MAX_BATCH_ITEMS } from '@millrace/service/executions/batch';
import { createTurns } from '@millrace/service/turns';
import { findWorkflow } from '@millrace/service/workflows/store';
import type { Config } from '../settings/config.ts';
import { findOwner } from './lookups.ts';
import { identityOf, readRows } from './row-file.ts';
import { formatOf, type RowFormat } from './row-format.ts';
import { withDatabase } from './running-service.ts';
import { OPERATOR } from './shared.ts';
import { type CommandResult, RefusedError, UsageError } from './shell.ts';

export interface BatchOptions {
  readonly format?: RowFormat;
  readonly encoding?: string;
  readonly key?: string;
}

/** The family of the operator's idempotency keys: they belong to no API key. */
const OPERATOR_FAMILY = '00000000-0000-0000-0000-000000000000';
/** Refused rows that the result lists. */
const MAX_LISTED = 1_000;
/** Of those, how many are shown to a person. */
const MAX_SHOWN = 20;

interface Refusal {
  /** From 1; the header of a CSV file isn't counted. */
  readonly row: number;
  readonly code: string;
  readonly errors: readonly { readonly pointer: string; readonly message: string }[];
}

interface Tally {
  started: number;
  replayed: number;
  refused: number;
  readonly problems: Refusal[];
}

/**
 * Starts a workflow once for each row of a file. Rows that were started before, by the same file or with the same `--key`, aren't started
 * again.
 */
export function startRows(workflowId: number, path: string, options: BatchOptions): Promise<CommandResult> {
  const file = { path, format: options.format ?? formatOf(path), encoding: options.encoding ?? 'utf-8' };
  if (options.key !== undefined && !/^[\x21-\x7e]{1,200}$/.test(options.key))
    throw new UsageError('invalid_key', '--key takes 1 to 200 visible ASCII characters.');
  return withDatabase(async (db, config) => {
    const key = options.key ?? (await identityOf(file));
    const target = await findTarget(db, config, workflowId);
    const tally: Tally = { started: 0, replayed: 0, refused: 0, problems: [] };
    let chunk: JsonObject[] = [];
    let weight = 0;
    let row = 0;
    const send = async () => {
      if (chunk.length === 0) return;
      note(tally, row - chunk.length, await target.start(chunk, `${key}:`, row - chunk.length));
      chunk = [];
      weight = 0;
      showProgress(tally);
    };
    for await (const input of readRows(file, target.schema)) {
      const text = stringifyJson(input);
      if (isTooLarge(text, config)) {
        await send();
        throw tooLarge(row + 1, config);
      }
      if (chunk.length === MAX_BATCH_ITEMS || weight + text.length > config.limits.batchBodyBytes)
        await send();
      chunk.push(input);
      weight += text.length;
      row += 1;
    }
    await send();
    return present(workflowId, tally, key);
  });
}

/** By the limits of a single start. */
function isTooLarge(text: string, { limits }: Config): boolean {
  return Buffer.byteLength(text) > limits.bodyBytes || jsonDepthExceeds(text, limits.jsonDepth - 1);
}

function tooLarge(row: number, { limits }: Config): RefusedError {
  return new RefusedError(
    'row_too_large',
    `Row ${row} is larger than ${limits.bodyBytes} bytes or nested too deeply. The rows before it were started; fix it and run the command again with the same --key.`,
  );
}

interface Target {
  readonly schema: JsonSchema | null;
  /** @param before rows before the first of these */
  start(inputs: readonly JsonObject[], keyPrefix: string, before: number): Promise<readonly BatchResult[]>;
}

async function findTarget(db: PgDatabase, config: Config, workflowId: number): Promise<Target> {
  const organisationId = await findOwner(db, 'workflow', workflowId);
  const plans = createPlanCache(db, typesOfVersions(registry, db));
  const turns = createTurns();
  const starter = createStarter({ db, executor: NO_EXECUTOR, config });
  const startBatch = createStartBatch({ plans, starter, turns });
  return {
    schema: await schemaOf(db, plans, organisationId, workflowId),
    async start(inputs, keyPrefix, before) {
      const results = await whileQueueIsFull(() =>
        startBatch({
          organisationId,
          workflowId,
          items: inputs.map((input, index) => ({
            body: { input_data: input },
            key: `${keyPrefix}${before + index + 1}`,
          })),
          mode: 'each',
          keys: { familyId: OPERATOR_FAMILY, route: `POST /api/v1/workflows/${workflowId}/execute` },
          triggerType: 'manual',
          receiptOf: (executionId, acceptedAt) => receiptOf(config.publicUrl, executionId, acceptedAt),
          within: async (tx, all) => {
            const count = all.filter(({ outcome }) => outcome === 'started').length;
            const details = { workflow_id: workflowId, count };
            if (count > 0)
              await insertAudit(tx, { organisationId, action: 'execution.started', by: OPERATOR, details });
            return true;
          },
        }),
      );
      if (results === null) throw new Error('a batch without a record of its own was not wanted');
      return results;
    },
  };
}

/** How often a chunk is sent again while too much is waiting; a worker that gets on with it needs fewer. */
const MAX_WAITS = 100;

/** Waits as long as the service asks for. @throws ApiError `queue_full`, `overloaded` if the queue doesn't get shorter */
async function whileQueueIsFull<T>(start: () => Promise<T>): Promise<T> {
  for (let waits = 0; ; waits += 1) {
    try {
      return await start();
    } catch (error) {
      const seconds = error instanceof ApiError ? Number(error.headers['retry-after'] ?? 0) : 0;
      if (seconds === 0 || waits === MAX_WAITS) throw error;
      await pause(seconds * 1_000);
    }
  }
}

async function schemaOf(
  db: PgDatabase,
  plans: PlanCache,
  organisationId: number,
  workflowId: number,
): Promise<JsonSchema | null> {
  const workflow = await db.forOrganisation(organisationId, (tx) =>
    findWorkflow(tx, organisationId, workflowId),
  );
  if (workflow === undefined) throw notFound('workflow');
  return inputSchemaOf(await plans.get(workflowId, workflow.version));
}

function note(tally: Tally, before: number, results: readonly BatchResult[]): void {
  for (const [index, result] of results.entries()) {
    tally[result.outcome] += 1;
    if (result.outcome !== 'refused' || tally.problems.length >= MAX_LISTED) continue;
    const { code, errors = [] } = result.error;
    tally.problems.push({
      row: before + index + 1,
      code,
      errors: errors.map(({ pointer, message }) => ({
        pointer: pointer.replace(/^\/items\/\d+(\/input_data)?/, ''),
        message: inEnglish(message),
      })),
    });
  }
}

/** Rewrites one line on a terminal. */
function showProgress(tally: Tally): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${describe(tally)}\u001b[K`);
}

function describe({ started, replayed, refused }: Tally): string {
  return `${started} started, ${replayed} already started before, ${refused} refused`;
}

function present(workflowId: number, tally: Tally, key: string): CommandResult {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  const { problems, ...counts } = tally;
  const lines = problems.slice(0, MAX_SHOWN).map(({ row, code, errors }) => {
    const faults = errors.map(({ pointer, message }) => `${pointer === '' ? '/' : pointer}: ${message}`);
    return `  row ${row}: ${faults.length === 0 ? code : faults.join('; ')}`;
  });
  const more = counts.refused - lines.length;
  return {
    json: { workflow_id: workflowId, ...counts, key, problems },
    text: [
      `Workflow ${workflowId}: ${describe(tally)}.`,
      ...lines,
      ...(more > 0 ? [`  and ${more} more`] : []),
    ].join('\n'),
    isFailure: counts.refused > 0,
  };
}
