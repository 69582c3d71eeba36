import type { Queryable } from '@millrace/database/database';
import { type Flow, type JsonText, type NodeRegistry, parseJson, stringifyJson } from '@millrace/engine';
import { changeFlowIds } from '@millrace/service/workflows/flow-ids';
import type { Renumbering } from './moved-rows.ts';

/** Flows in memory at a time; one has 4 MiB at most. */
const BATCH = 20;

const TABLES = [
  { table: 'moved_workflow_versions', number: 'version' },
  { table: 'moved_workflow_drafts', number: 'user_id' },
] as const;

interface FlowRow {
  readonly workflow_id: number;
  readonly number: number;
  readonly flow_data: JsonText<Flow>;
}

/** Gives the workflows and credentials that saved flows and drafts name their new ids. */
export async function renumberFlows(
  session: Queryable,
  registry: NodeRegistry,
  renumbered: readonly Renumbering[],
): Promise<void> {
  const shifts = new Map<string, Renumbering>(renumbered.map((each) => [each.kind, each]));
  if (!shifts.has('workflows') && !shifts.has('credentials')) return;
  const change = (kind: string, id: number) => {
    const found = shifts.get(kind);
    return found === undefined || id > found.lastFormer ? id : id + found.shift;
  };
  for (const place of TABLES) {
    for (let rows = await readFlows(session, place); rows.length > 0; ) {
      await writeFlows(session, place, rows, registry, change);
      rows = await readFlows(session, place, rows.at(-1));
    }
  }
}

type Place = (typeof TABLES)[number];

async function readFlows(session: Queryable, { table, number }: Place, after?: FlowRow): Promise<FlowRow[]> {
  return session.query<FlowRow>(
    `SELECT workflow_id, ${number} AS number, flow_data FROM ${table}
     WHERE $1::bigint IS NULL OR (workflow_id, ${number}) > ($1, $2)
     ORDER BY workflow_id, ${number} LIMIT $3`,
    [after?.workflow_id ?? null, after?.number ?? null, BATCH],
  );
}

async function writeFlows(
  session: Queryable,
  { table, number }: Place,
  rows: readonly FlowRow[],
  registry: NodeRegistry,
  change: (kind: string, id: number) => number,
): Promise<void> {
  for (const row of rows) {
    const flow = parseJson(row.flow_data);
    const changed = changeFlowIds(flow, registry, change);
    if (changed === flow) continue;
    await session.query(`UPDATE ${table} SET flow_data = $3 WHERE workflow_id = $1 AND ${number} = $2`, [
      row.workflow_id,
      row.number,
      stringifyJson(changed),
    ]);
  }
}
