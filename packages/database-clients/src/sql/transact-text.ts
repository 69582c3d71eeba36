import { ServiceError } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';

const LINE_COMMENT = /--[^\n\r\v\f\u0085\u2028\u2029]*/y;
/** A word, or the name of a variable or a temporary table. */
const WORD = /[\p{L}_@#][\p{L}\p{N}_@#$]*/uy;
/** A number or an amount, and what follows it without a space. */
const NUMBER = /(?:0x[\da-f]*|\.?\d[\d.]*(?:e[+-]?\d+)?|\p{Sc}[\d.]*)([\p{L}_@#]*)/iuy;
/** What closes a quoted text or name; doubled it stands for itself. */
const CLOSING: Readonly<Record<string, string>> = { "'": "'", '"': '"', '[': ']' };

/** Words of which each begins a statement that changes something, or names one inside another statement. All are reserved. */
const CHANGING = new Set([
  'alter',
  'backup',
  'bulk',
  'create',
  'dbcc',
  'delete',
  'deny',
  'drop',
  'dump',
  'exec',
  'execute',
  'grant',
  'insert',
  'into',
  'kill',
  'load',
  'merge',
  'reconfigure',
  'restore',
  'revoke',
  'shutdown',
  'truncate',
  'update',
  'updatetext',
  'writetext',
]);
/** Words that end the transaction, or reach another server, where no rollback helps. */
const LEAVING = new Set([
  'begin',
  'commit',
  'opendatasource',
  'openquery',
  'openrowset',
  'rollback',
  'save',
  'use',
]);
const READING = ['select', 'with'];

/**
 * The words of a text in Transact-SQL, in lower case. Wherever SQL Server might see a word, this sees one: after quotes and comments that
 * don't end, and right behind a number (`1delete`), which then is part of the word.
 */
function wordsOf(sql: string): readonly string[] {
  const words: string[] = [];
  // What opens and isn't closed, so that each is looked for once.
  const open = new Set<string>();
  const match = (pattern: RegExp, at: number): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(sql);
  };
  for (let at = 0; at < sql.length; ) {
    const end = endOfQuoted(sql, at, open) ?? endOfComment(sql, at, open);
    if (end !== undefined) {
      at = end;
      continue;
    }
    const comment = match(LINE_COMMENT, at);
    const number = match(NUMBER, at);
    const found = comment ?? number ?? match(WORD, at);
    if (comment === null && found !== null && number?.[1] !== '') {
      words.push(found[0].normalize('NFKC').toLowerCase());
    }
    at += found?.[0].length ?? 1;
  }
  return words;
}

function endOfQuoted(sql: string, start: number, open: Set<string>): number | undefined {
  const first = sql[start] ?? '';
  const closing = CLOSING[first];
  if (closing === undefined || open.has(first)) return undefined;
  for (let at = sql.indexOf(closing, start + 1); at !== -1; at = sql.indexOf(closing, at + 2)) {
    if (sql[at + 1] !== closing) return at + 1;
  }
  open.add(first);
  return undefined;
}

/** Block comments nest. */
function endOfComment(sql: string, start: number, open: Set<string>): number | undefined {
  if (!sql.startsWith('/*', start) || open.has('/*')) return undefined;
  let depth = 0;
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  for (let mark = marks.exec(sql); mark !== null; mark = marks.exec(sql)) {
    depth += mark[0] === '/*' ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  open.add('/*');
  return undefined;
}

/**
 * SQL Server has no read-only transaction, so the text must be one that only reads: it begins with SELECT or WITH, and has no word that
 * changes something, in any of its statements. Names that are such a word stand in brackets.
 * @throws ServiceError `sql_read_only`
 */
export function checkTransactReadOnly(sql: string): void {
  const words = wordsOf(sql);
  if (!READING.includes(words[0] ?? '')) throw refusal(message('ports.read_only_word'));
  const found = words.find((word) => CHANGING.has(word) || LEAVING.has(word) || isGlued(word));
  if (found !== undefined)
    throw refusal(message('ports.read_only_has', { word: found.toUpperCase().slice(0, 40) }));
  // A sequence gives its numbers out for ever.
  const isSequence = words.some(
    (word, index) => word === 'next' && words[index + 1] === 'value' && words[index + 2] === 'for',
  );
  if (isSequence) throw refusal(message('ports.read_only_has', { word: 'NEXT VALUE FOR' }));
}

const REPEATING = new Set(['while', 'goto']);
/** Statements that are applied as a whole or not at all, without a procedure in them. */
const WHOLE = ['insert', 'update', 'delete', 'merge', 'truncate'];

/**
 * Whether a text consists of one statement that changes rows: if it fails or is stopped, nothing was changed. A text with several may have
 * changed something before.
 */
export function isOneChange(sql: string): boolean {
  const words = wordsOf(sql);
  const changes = words.filter((word) => CHANGING.has(word) && word !== 'into');
  if (changes.length > 1 || words.some((word) => LEAVING.has(word) || REPEATING.has(word) || isGlued(word))) {
    return false;
  }
  return changes.length === 0 ? READING.includes(words[0] ?? '') : WHOLE.includes(changes[0] ?? '');
}

/** Whether a number stands before the word, so that it may be more than one. */
function isGlued(word: string): boolean {
  return !/^[\p{L}_@#]/u.test(word);
}

function refusal(reason: Message): ServiceError {
  return new ServiceError('sql_read_only', reason);
}
