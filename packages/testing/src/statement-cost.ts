import type { Database, Queryable } from '@millrace/database/database';
import pg from 'pg';

/** A statement as it is sent. */
export interface SentStatement {
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
  /** With a name, the plan is the one that PostgreSQL keeps. */
  readonly name?: string | undefined;
}

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

/** Buffers touched by the statement, which is executed. */
export async function explainBuffers(
  tx: Queryable,
  text: string,
  values?: readonly unknown[],
): Promise<number> {
  const [row] = await tx.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
    values,
  );
  const [{ Plan: plan }] = JSON.parse(row?.['QUERY PLAN'] ?? '') as [{ Plan: Plan }];
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

/** Buffers touched by the statement, which is executed, measured and undone. `tx` is a transaction. */
export async function countBuffers(
  tx: Queryable,
  { text, values = [], name }: SentStatement,
): Promise<number> {
  await tx.query("SET LOCAL plan_cache_mode = 'force_generic_plan'");
  await tx.query('SAVEPOINT before');
  if (name !== undefined) {
    await tx.query(text, values, name);
    await tx.query('ROLLBACK TO before');
  }
  const buffers = await (name === undefined
    ? explainBuffers(tx, text, values)
    : explainBuffers(tx, executeOf(name, values)));
  await tx.query('ROLLBACK TO before');
  return buffers;
}

/**
 * Buffers touched by the statements that `send` sends, by the plans that PostgreSQL keeps. Everything is undone.
 * @param afterwards between making the plans and using them
 */
export async function buffersOfKeptPlan(
  db: Database,
  send: (tx: Queryable) => Promise<unknown>,
  afterwards: (tx: Queryable) => Promise<unknown> = async () => {},
): Promise<number> {
  return db.transaction(async (tx) => {
    const sent: SentStatement[] = [];
    const watched: Queryable = {
      query: (text, values, name) => {
        sent.push({ text, values, name });
        return tx.query(text, values, name);
      },
    };
    await tx.query("SET LOCAL plan_cache_mode = 'force_generic_plan'");
    await tx.query('SAVEPOINT planned');
    await send(watched);
    await tx.query('ROLLBACK TO planned');
    await afterwards(tx);
    let buffers = 0;
    for (const statement of sent) buffers += await countBuffers(tx, statement);
    await tx.query('ROLLBACK TO planned');
    return buffers;
  });
}

/** EXECUTE takes no parameters from the protocol. */
function executeOf(name: string, values: readonly unknown[]): string {
  return values.length === 0
    ? `EXECUTE ${name}`
    : `EXECUTE ${name}(${values.map((value) => pg.escapeLiteral(textOf(value))).join()})`;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(elementOf).join()}}`;
  return Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : String(value);
}

function elementOf(value: unknown): string {
  return value === null || value === undefined ? 'NULL' : `"${textOf(value).replaceAll(/["\\]/g, '\\$&')}"`;
}
