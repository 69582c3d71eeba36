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

/** Without it spreadsheets don't recognise UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

// As listed by OWASP; spreadsheets set to Japanese or Chinese accept the full-width forms too.
const BEGINS_FORMULA = /^(?:[\t\r\n]|\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/u;
/**
 * The same after separators used elsewhere: a spreadsheet set to German, for example, ends cells at semicolons and ignores quotes that
 * start inside one. Blanks and quotes may come in between.
 */
const BEGINS_FORMULA_ELSEWHERE = /([;|\t\r\n][\s"']*)([=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/gu;

/** Start of the file: the column names. */
export const CSV_HEAD = `${BYTE_ORDER_MARK}${csvRow(COLUMNS)}`;

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

export function toJsonLine(item: AuditItem): string {
  return `${stringifyJson(item)}\n`;
}

/** RFC 4180, with every cell quoted so that none can end early. */
function csvRow(cells: readonly string[]): string {
  return `${cells.map((cell) => `"${defuse(cell).replaceAll('"', '""')}"`).join(',')}\r\n`;
}

/** Prefixes an apostrophe to text that a spreadsheet would take for a formula. JSON lines keep it unchanged. */
function defuse(cell: string): string {
  const text = cell.replace(BEGINS_FORMULA_ELSEWHERE, "$1'$2");
  return BEGINS_FORMULA.test(text) ? `'${text}` : text;
}
