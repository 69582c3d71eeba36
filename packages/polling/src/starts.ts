import { createHash } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { type CompileResult, isJsonArray, type PlanNode, type PolledItem, success } from '@millrace/engine';
import { drive } from '@millrace/runtime/drive';
import { storeStarts } from '@millrace/runtime/held-starts';
import { maskSecrets } from '@millrace/runtime/mask';
import { recordsOfStart, toStartRow } from '@millrace/runtime/start-row';
import { readDatabaseTime, reserveExecutionIds } from '@millrace/runtime/statements';
import { holderOf } from './poll-context.ts';
import { type ClaimedPoll, findKnown } from './store.ts';

/** Something found, and the files that were stored for its execution. */
export interface StartedItem extends PolledItem {
  readonly files?: readonly string[];
}

/** What is found for. */
export interface FoundFor {
  readonly claimed: ClaimedPoll;
  readonly compiled: CompileResult;
  readonly trigger: PlanNode;
  readonly secrets: Set<string>;
  readonly signal: AbortSignal;
}

/** Those that were not found before, in their order. */
export async function findFresh(
  db: Queryable,
  { claimed }: Pick<FoundFor, 'claimed'>,
  hashes: readonly string[],
): Promise<readonly string[]> {
  const known = await findKnown(db, claimed, hashes.map(bytesOf));
  const found = new Set(known.map((hash) => hash.toString('hex')));
  return hashes.filter((hash) => !found.has(hash));
}

/** Starts an execution for each item, in the transaction that records them. */
export async function startExecutions(
  tx: Queryable,
  { claimed, compiled, trigger }: Pick<FoundFor, 'claimed' | 'compiled' | 'trigger'>,
  items: readonly StartedItem[],
): Promise<void> {
  if (items.length === 0) return;
  const acceptedAt = new Date(Math.floor(await readDatabaseTime(tx)));
  const ids = await reserveExecutionIds(tx, items.length);
  const rows = items.map(({ data, files }, at) => {
    const reserved = ids[at];
    if (reserved === undefined) throw new Error('fewer ids were reserved than items start');
    return toStartRow({
      executionId: reserved.id,
      acceptedAt,
      workflow: {
        id: claimed.workflow_id,
        organisationId: claimed.organisation_id,
        name: claimed.name,
        isTestMode: claimed.is_test_mode,
      },
      version: claimed.version,
      triggerType: 'poll',
      input: data,
      compiled,
      records: recordsOfStart(compiled, trigger.id, { data }, acceptedAt),
      ...(files === undefined ? {} : { files }),
    });
  });
  const { stored } = await storeStarts(tx, rows, null);
  // The items are found again once it isn't paused any more.
  if (stored.length < rows.length) throw new Error('the organisation was paused while it was polled for');
}

/** The items without the secrets that were used to get them. */
export async function maskItems<Item extends PolledItem>(
  { maxSteps }: { readonly maxSteps: number },
  { secrets, trigger, signal }: Pick<FoundFor, 'secrets' | 'trigger' | 'signal'>,
  items: readonly Item[],
): Promise<readonly Item[]> {
  if (secrets.size === 0) return items;
  const work = maskSecrets(success({ data: items.map(({ data }) => data) }), secrets);
  const options = { holder: holderOf(trigger), maxSteps, isAborted: () => signal.aborted };
  const masked = await drive(work, options);
  const data = masked.kind === 'success' ? masked.output.data : undefined;
  if (data === undefined || !isJsonArray(data)) throw new Error('masking lost the items');
  return items.map((item, at) => ({ ...item, data: data[at] ?? null }));
}

/** By what an item is remembered: the hexadecimal SHA-256 of its id. */
export function hashOf(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}

/** A hash as it is stored. */
export function bytesOf(hash: string): Buffer {
  return Buffer.from(hash, 'hex');
}
