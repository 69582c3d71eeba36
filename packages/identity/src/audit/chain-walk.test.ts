import { expect, test } from 'vitest';
import { type ChainedEntry, chainHash, NO_HASH } from './chain.ts';
import type { SealedRow } from './chain-store.ts';
import { type AuditProblem, type Chain, ChainWalk } from './chain-walk.ts';

const ORGANISATION = 3;

function entry(id: number): ChainedEntry {
  return {
    id,
    organisation_id: ORGANISATION,
    occurred_at: '2026-11-23T09:30:00.123456Z',
    action: 'workflow.saved',
    actor: 'user',
    user_id: 5,
    member_id: 6,
    api_key_id: null,
    source_ip: '192.0.2.1',
    request_id: `r${id}`,
    repeat_key: null,
    repeats: 1,
    last_occurred_at: null,
    details: '{"workflow_id":7}',
  };
}

/** A chain of so many entries, whose ids are ten times their position. */
function chainOf(length: number): { readonly chain: Chain; readonly rows: SealedRow[] } {
  let head = NO_HASH;
  const rows = Array.from({ length }, (_, index): SealedRow => {
    const position = index + 1;
    const each = entry(position * 10);
    head = chainHash(head, position, each);
    return { ...each, position, entry_id: each.id, hash: head };
  });
  const chain = { organisation_id: ORGANISATION, length, head, dropped: 0, dropped_hash: NO_HASH };
  return { chain, rows };
}

function problemsOf(chain: Chain | undefined, rows: readonly SealedRow[]): readonly AuditProblem[] {
  const walk = new ChainWalk(ORGANISATION, chain);
  for (const row of rows) walk.visit(row);
  walk.end();
  const { problems, entries, problemCount } = walk.result();
  expect({ entries, problemCount }).toEqual({ entries: rows.length, problemCount: problems.length });
  return problems;
}

/** An entry that isn't there any more, as its seal shows it. */
function without(row: SealedRow): SealedRow {
  const nothing = Object.fromEntries(Object.keys(entry(1)).map((name) => [name, null]));
  return { ...row, ...nothing } as SealedRow;
}

test('one entry that was changed, and one that is missing, among 100,000', () => {
  const { chain, rows } = chainOf(100_000);
  const changed = rows.with(43_210, { ...(rows[43_210] as SealedRow), source_ip: '192.0.2.2' });
  const first = { kind: 'entry_changed', entryId: 432_110, position: 43_211 };
  const missing = changed.with(77_777, without(rows[77_777] as SealedRow));
  const second = { kind: 'entry_missing', entryId: 777_780, position: 77_778 };
  expect(problemsOf(chain, missing)).toEqual([first, second]);
});

test('an empty chain has no problems; entries in one that was never begun do', () => {
  expect(problemsOf(undefined, [])).toEqual([]);
  expect(problemsOf(undefined, chainOf(1).rows)).toEqual([
    { kind: 'head_differs', entryId: null, position: 1 },
  ]);
});

test('entries in another order, and one that is there twice', () => {
  const { chain, rows } = chainOf(4);
  const [, second, third] = rows as [SealedRow, SealedRow, SealedRow];
  const contentOf = ({ position: _, hash: __, ...content }: SealedRow) => content;
  const swapped = rows
    .with(1, { ...second, ...contentOf(third) })
    .with(2, { ...third, ...contentOf(second) });
  expect(problemsOf(chain, swapped)).toEqual([
    { kind: 'entry_changed', entryId: 30, position: 2 },
    { kind: 'entry_changed', entryId: 20, position: 3 },
  ]);
  const twice = rows.with(2, { ...third, ...contentOf(second) });
  expect(problemsOf(chain, twice)).toEqual([{ kind: 'entry_changed', entryId: 20, position: 3 }]);
});

test('no more than a hundred problems are listed; all are counted', () => {
  const { chain, rows } = chainOf(150);
  const walk = new ChainWalk(ORGANISATION, chain);
  for (const row of rows) walk.visit(without(row));
  walk.end();
  expect(walk.result()).toMatchObject({ problemCount: 150 });
  expect(walk.result().problems).toHaveLength(100);
});
