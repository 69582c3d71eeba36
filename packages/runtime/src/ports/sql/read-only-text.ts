import { ServiceError } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';

/** How a statement begins that only reads. CALL, DO, SET, BEGIN and PREPARE could end MySQL's read-only transaction. */
const MYSQL_READING = ['select', 'with', 'show', 'explain', 'describe', 'desc', 'table', 'values'];
/** White space, comments and opening brackets; not `/*!` and `/*M!`, which are statements in disguise to MySQL. */
const BEFORE_FIRST_WORD = /^(?:\s+|#[^\n]*(?:\n|$)|--[\s][^\n]*(?:\n|$)|\/\*(?!M?!)[\s\S]*?\*\/|\()*/;
/** Both comments of PostgreSQL; it nests the longer ones, so what stands in them may be left over, and is no word then. */
const BEFORE_POSTGRESQL_WORD = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/|\()*/;
/** Files that the server writes, and that no transaction takes back. OUTFILE is a reserved word, so it is no column's name. */
const WRITES_FILE = /\b(?:outfile|dumpfile)\b/i;

/**
 * Refuses what does not begin like a reading statement. The server refuses writes in the read-only transaction; this refuses what
 * could leave it, and files.
 * @throws ServiceError `sql_read_only`
 */
export function checkMysqlReadOnly(sql: string): void {
  if (!MYSQL_READING.includes(firstWord(sql, BEFORE_FIRST_WORD))) {
    throw refusal(
      message('ports.read_only_begins', { words: MYSQL_READING.slice(0, -1).join(', ').toUpperCase() }),
    );
  }
  if (WRITES_FILE.test(sql)) {
    throw refusal(message('ports.read_only_file'));
  }
}

/**
 * Refuses COPY, which may write files and start programs in a read-only transaction; PostgreSQL itself refuses everything else that
 * writes, and lets nobody out of the transaction.
 * @throws ServiceError `sql_read_only`
 */
export function checkPostgresqlReadOnly(sql: string): void {
  const word = firstWord(sql, BEFORE_POSTGRESQL_WORD);
  if (word === '') throw refusal(message('ports.read_only_word'));
  if (word === 'copy') throw refusal(message('ports.read_only_copy'));
}

function firstWord(sql: string, before: RegExp): string {
  const rest = sql.slice(before.exec(sql)?.[0].length ?? 0);
  return /^[a-z]+/i.exec(rest)?.[0].toLowerCase() ?? '';
}

function refusal(reason: Message): ServiceError {
  return new ServiceError('sql_read_only', reason);
}
