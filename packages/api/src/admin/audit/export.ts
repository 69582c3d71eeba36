import type { AuditItem } from '@millrace/admin-api';
import { stringifyJson } from '@millrace/engine';

const COLUMNS = [
  'id',
  'occurred_at',
  'action',
  'actor',
  'actor_name',
  'api_key_id',
  'api_key_name',
  'api_key_key_id',
  'api_key_last_four',
  'member_id',
  'member_email',
  'source_ip',
  'request_id',
  'repeats',
  'last_occurred_at',
  'details',
] as const;

/** Spreadsheets take UTF-8 for it only when the file begins with this. */
const BYTE_ORDER_MARK = '\uFEFF';

// As OWASP lists them; the wide forms are taken for the others by spreadsheets that are set to Japanese or Chinese.
const BEGINS_FORMULA = /^(?:[\t\r\n]|\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/u;
/**
 * The same behind what separates cells elsewhere: a spreadsheet that is set to German, say, ends cells at semicolons, and
 * takes no notice of quotes that begin in the middle of one. Blanks and quotes may stand between.
 */
const BEGINS_FORMULA_ELSEWHERE = /([;|\t\r\n][\s"']*)([=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/gu;

/** What the file begins with: the names of the columns. */
export const CSV_HEAD = `${BYTE_ORDER_MARK}${csvRow(COLUMNS)}`;

/** An entry as a row of the CSV file. */
export function toCsvRow(item: AuditItem): string {
  return csvRow([
    String(item.id),
    item.occurred_at,
    item.action,
    item.actor,
    item.actor_name ?? '',
    item.api_key === null ? '' : String(item.api_key.id),
    item.api_key?.name ?? '',
    item.api_key?.key_id ?? '',
    item.api_key?.last_four ?? '',
    item.member === null ? '' : String(item.member.id),
    item.member?.email ?? '',
    item.source_ip ?? '',
    item.request_id ?? '',
    String(item.repeats),
    item.last_occurred_at ?? '',
    stringifyJson(item.details),
  ]);
}

/** An entry as a line of the JSON Lines file. */
export function toJsonLine(item: AuditItem): string {
  return `${stringifyJson(item)}\n`;
}

/** RFC 4180, every cell in quotes, so that none can end early. */
function csvRow(cells: readonly string[]): string {
  return `${cells.map((cell) => `"${defuse(cell).replaceAll('"', '""')}"`).join(',')}\r\n`;
}

/** Text that a spreadsheet would take for a formula is made to begin with an apostrophe. JSON lines keep it as it is. */
function defuse(cell: string): string {
  const text = cell.replace(BEGINS_FORMULA_ELSEWHERE, "$1'$2");
  return BEGINS_FORMULA.test(text) ? `'${text}` : text;
}
