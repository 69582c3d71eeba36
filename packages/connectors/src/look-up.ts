import {
  type Failure,
  failure,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  type Meter,
  type NodeContext,
  own,
  type Work,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { ask } from './ask.ts';
import type { Lookup, TableRow } from './format.ts';
import { MAX_LARGE_ANSWER_BYTES, type OperationCall } from './request.ts';
import { cellsOf, cellText } from './table-cells.ts';
import { fillIn, fillInText } from './templates.ts';

/**
 * Reads what an operation needs to know first. Every attempt does so again, so it acts on what is there now.
 * @returns the call with `args.found` and the request that fits it
 * @throws NodeProblem, ServiceError, RenderLimitError
 */
export async function lookUp(
  call: OperationCall,
  lookup: Lookup,
  context: NodeContext,
): Promise<OperationCall | Failure> {
  const { request, errors, table, needed, instead } = lookup;
  const { connector, operation, budget } = call;
  const asked = { request, effect: false, ...(errors === undefined ? {} : { errors }) };
  const answer = await ask(
    { ...call, operation: asked, idempotencyKey: '', maxAnswerBytes: MAX_LARGE_ANSWER_BYTES },
    context,
  );
  if (answer.kind === 'failure') return answer;
  const read = { ...call.args, response: answer.response };
  const found =
    table === undefined
      ? fillIn(lookup.found ?? null, read, budget)
      : await rowIn(table, read, call, (make) => context.inTurns(make));
  const args: JsonObject = { ...call.args, found };
  if (needed !== undefined && fillIn(needed, args, budget) !== true) {
    return failure(
      'connector_not_found',
      message('nodes.connector_nothing_found', { service: connector.title }),
    );
  }
  const isOther = instead !== undefined && fillIn(instead.when, args, budget) === true;
  return { ...call, args, operation: isOther ? { ...operation, request: instead.request } : operation };
}

/** The row of a table that is meant, and what goes into its cells: null where a cell stays as it is. */
async function rowIn(
  table: TableRow,
  args: JsonObject,
  { connector, budget }: OperationCall,
  inTurns: NodeContext['inTurns'],
): Promise<JsonObject> {
  const service = connector.title;
  const header = cellsOf(fillIn(table.header, args, budget)).map(cellText);
  const values = fillIn(table.values, args, budget);
  const given = isJsonObject(values) && !isRawNumber(values) ? values : {};
  if (header.every((name) => name === '')) {
    throw new NodeProblem(message('nodes.connector_no_columns', { service }));
  }
  const ignores = table.ignore_unknown !== undefined && fillIn(table.ignore_unknown, args, budget) === true;
  const unknown = Object.keys(given).filter((name) => !header.includes(name));
  if (unknown.length > 0 && !ignores) throw unknownColumns(service, unknown, header);
  const cells = header.map((name) => own(given, name) ?? null);
  if (table.match === undefined) return { row: null, cells };
  const column = fillInText(table.match, args, budget);
  const wanted = Object.hasOwn(given, column) ? cellText(given[column] ?? null) : '';
  if (wanted === '') throw new NodeProblem(message('nodes.connector_match_missing', { column }));
  const at = header.indexOf(column);
  if (at < 0) throw unknownColumns(service, [column], header);
  const rows = cellsOf(fillIn(table.rows ?? '', args, budget));
  const index = await inTurns((meter) => findRow(rows, at, wanted, meter));
  return { row: index < 0 ? null : (table.first_row ?? 1) + index, cells };
}

/** The index of the first row with a text in a column; -1 for none. */
function* findRow(rows: readonly JsonValue[], column: number, wanted: string, meter: Meter): Work<number> {
  for (const [index, row] of rows.entries()) {
    if (cellText(cellsOf(row)[column] ?? null) === wanted) return index;
    meter.spend(1);
    if (meter.isDue) yield meter.take();
  }
  return -1;
}

function unknownColumns(service: string, names: readonly string[], header: readonly string[]): NodeProblem {
  const known = listed(header.filter((name) => name !== ''));
  return new NodeProblem(
    message('nodes.connector_unknown_columns', { service, names: listed(names), known }),
  );
}

/** The longest list of names in a message. */
const MAX_LISTED_NAMES = 20;

function listed(names: readonly string[]): string {
  return names
    .slice(0, MAX_LISTED_NAMES)
    .map((name) => name.slice(0, 100))
    .join(', ');
}
