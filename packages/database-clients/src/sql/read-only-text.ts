import { ServiceError } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';

/** First words of statements that only read. CALL, DO, SET, BEGIN and PREPARE could end MySQL's read-only transaction. */
const MYSQL_READING = ['select', 'with', 'show', 'explain', 'describe', 'desc', 'table', 'values'];
/** White space, comments and opening parentheses; not `/*!` and `/*M!`, which MySQL executes as statements. */
const BEFORE_FIRST_WORD = /^(?:\s+|#[^\n]*(?:\n|$)|--[\s][^\n]*(?:\n|$)|\/\*(?!M?!)[\s\S]*?\*\/|\()*/;
/** Both kinds of PostgreSQL comments. Block comments nest, so part of one may be left over, which then isn't a word. */
const BEFORE_POSTGRESQL_WORD = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/|\()*/;
/** Files written by the server, which no rollback removes. OUTFILE is a reserved word, so it can't be a column name. */
const WRITES_FILE = /\b(?:outfile|dumpfile)\b/i;

/**
 * Refuses anything that doesn't start like a reading statement. The server rejects writes in the read-only transaction; this
 * rejects files and whatever could leave the transaction.
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
 * Refuses COPY, which can write files and start programs in a read-only transaction; PostgreSQL itself rejects every other
 * write, and doesn't allow leaving the transaction.
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
