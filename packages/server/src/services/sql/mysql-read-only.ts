import { ServiceError } from '@millrace/engine';

/** How a statement begins that only reads. CALL, DO, SET, BEGIN and PREPARE could end a read-only transaction. */
const READING = ['select', 'with', 'show', 'explain', 'describe', 'desc', 'table', 'values'];
/** White space, comments and opening brackets; not `/*!` and `/*M!`, which are statements in disguise. */
const BEFORE_FIRST_WORD = /^(?:\s+|#[^\n]*(?:\n|$)|--[\s][^\n]*(?:\n|$)|\/\*(?!M?!)[\s\S]*?\*\/|\()*/;

/**
 * Refuses what does not begin like a reading statement. The server refuses writes in the read-only transaction; this refuses what
 * could leave it.
 * @throws ServiceError `sql_read_only`
 */
export function checkReadOnlyText(sql: string): void {
  const rest = sql.slice(BEFORE_FIRST_WORD.exec(sql)?.[0].length ?? 0);
  const word = /^[a-z]+/i.exec(rest)?.[0].toLowerCase() ?? '';
  if (READING.includes(word)) return;
  throw new ServiceError(
    'sql_read_only',
    `A read-only query begins with ${READING.slice(0, -1).join(', ').toUpperCase()} or VALUES. Set config.read_only to false for other statements.`,
  );
}
