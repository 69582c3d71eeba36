import { isJsonObject, type JsonObject, type JsonValue, own } from '@millrace/engine';
import { inUrl, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { arrayOf, asText, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { AUTH } from './parts.ts';
import { columnsAt } from './service-values.ts';

/** Google Sheets through its values API: rows with a header line become items and back. */
export function googleSheets(step: Step): readonly Out[] {
  const operation = nearestOperation(step, step.text('operation', 'read'));
  const isWritten = /^(?:append|update|appendOrUpdate)$/.test(operation);
  const row = isWritten ? rowOf(step) : {};
  const written = isWritten ? asOperation(step, operation, row) : null;
  step.approximate(message(written === null ? 'import.called_by_hand' : 'import.made_operation'));
  step.approximate(message('import.choose_credential'));
  if (written !== null) {
    step.add(written.type, written.config);
    return [rowOut(step, row)];
  }
  switch (operation) {
    case 'read':
    case 'lookup':
      return read(step);
    case 'delete':
      return deleteLines(step);
    case 'append':
      return append(step, row);
    case 'update':
    case 'appendOrUpdate':
      return update(step, row, operation === 'appendOrUpdate');
    case 'clear': {
      const id = step.add('http.request', {
        method: 'POST',
        url: `${rangeUrl(step)}:clear`,
        auth: AUTH,
        body: {},
      });
      return [step.one(`nodes.${id}.output.body`)];
    }
    case 'create': {
      const id = step.add('http.request', {
        method: 'POST',
        url: 'https://sheets.googleapis.com/v4/spreadsheets',
        auth: AUTH,
        body: { properties: { title: step.param('title', '') } },
      });
      return [step.one(`nodes.${id}.output.body`)];
    }
    default:
      throw new Unmappable(message('import.unknown_operation', { operation }));
  }
}

/** Names of operations that n8n doesn't have, and which one is meant. */
const MEANT: { readonly [operation: string]: string } = {
  get: 'read',
  getAll: 'read',
  getMany: 'read',
  getRow: 'read',
  getRows: 'read',
  readRows: 'read',
  add: 'append',
  addRow: 'append',
  appendRow: 'append',
  insert: 'append',
  updateRow: 'update',
  upsert: 'appendOrUpdate',
};

function nearestOperation(step: Step, operation: string): string {
  const nearest = own(MEANT, operation);
  if (nearest === undefined) return operation;
  // The first versions of the node had an upsert.
  if (operation !== 'upsert') step.approximate(message('import.nearest_operation', { operation, nearest }));
  return nearest;
}

/** Deletes rows or columns: the request knows the sheet by its number, which is looked up. */
function deleteLines(step: Step): readonly Out[] {
  const isColumns = step.text('toDelete', 'rows') === 'columns';
  const document = step.chosen('documentId') ?? step.chosen('sheetId');
  const url = `https://sheets.googleapis.com/v4/spreadsheets/${pathPart(document)}`;
  const sheet = objectOf(step.raw('sheetName'));
  const name = textOf(sheet.cachedResultName) ?? step.chosen('sheetName');
  const found = step.add(
    'http.request',
    { url, query: { fields: 'sheets.properties' }, auth: AUTH },
    { suffix: 'sheets' },
  );
  const range = step.add(
    'core.code',
    {
      code: `const { sheets, name, first, count, isColumns } = input;
const wanted = String(name).replace(/^gid=/, '');
const { properties } = sheets.find(({ properties: each }) => each.title === name || String(each.sheetId) === wanted) ?? {};
if (properties === undefined) throw new Error('There is no sheet ' + name);
const start = isColumns && !/^\\d+$/.test(first) ? [...String(first).toUpperCase()].reduce((all, letter) => all * 26 + letter.charCodeAt(0) - 64, 0) : Number(first);
return { sheetId: properties.sheetId, dimension: isColumns ? 'COLUMNS' : 'ROWS', startIndex: start - 1, endIndex: start - 1 + Number(count) };`,
      input: {
        sheets: template(`nodes.${found}.output.body.sheets`),
        name: name ?? '',
        first: step.param('startIndex', isColumns ? 'A' : 2),
        count: step.param('numberToDelete', 1),
        isColumns,
      },
    },
    { suffix: 'range' },
  );
  const id = step.add('http.request', {
    method: 'POST',
    url: `${url}:batchUpdate`,
    auth: AUTH,
    body: { requests: [{ deleteDimension: { range: template(`nodes.${range}.output.result`) } }] },
  });
  return [step.pass('out', id)];
}

/** The sheet by name: the values API doesn't know the numeric ids that exports have, but exports also have the name. */
function rangeUrl(step: Step): string {
  const name = sheetName(step);
  const document = step.chosen('documentId') ?? step.chosen('sheetId');
  return `https://sheets.googleapis.com/v4/spreadsheets/${pathPart(document)}/values/${pathPart(name)}`;
}

function sheetName(step: Step): JsonValue {
  const given = objectOf(step.raw('sheetName'));
  if (typeof given.cachedResultName !== 'string' && given.mode !== 'name')
    step.approximate(message('import.check_sheet'));
  return textOf(given.cachedResultName) ?? step.chosen('sheetName') ?? step.chosen('range');
}

function pathPart(value: JsonValue): string {
  return inUrl(value === null || value === '' ? 'Sheet1' : asText(value));
}

const ROWS = `const [header = [], ...lines] = input.values ?? [];
const rows = lines.map((line, at) => ({ row_number: at + 2, ...Object.fromEntries(header.map((name, column) => [name, line[column] ?? ''])) }));`;

function read(step: Step): readonly Out[] {
  const filters = arrayOf(step.raw('filtersUI.values')).map((each) => {
    const filter = objectOf(each);
    return { column: step.value(filter.lookupColumn ?? ''), value: step.value(filter.lookupValue ?? '') };
  });
  const old = step.raw('lookupColumn');
  if (old !== undefined) filters.push({ column: step.value(old), value: step.param('lookupValue', '') });
  const place = objectOf(step.raw('options.dataLocationOnSheet.values'));
  const range = place.rangeDefinition === 'specifyRangeA1' ? asText(step.value(place.range ?? '')) : '';
  if (place.rangeDefinition === 'specifyRange') step.approximate(message('import.sheet_from_top'));
  const url = rangeUrl(step);
  const id = step.add('http.request', { url: range === '' ? url : `${url}!${inUrl(range)}`, auth: AUTH });
  const { version } = step.node;
  const combine = step.text('combineFilters', version < 4.3 ? 'OR' : 'AND') === 'OR' ? 'some' : 'every';
  const isFirst =
    version < 4.5
      ? !['returnAllMatches', true].includes(step.raw('options.returnAllMatches') as string | boolean)
      : step.raw('options.returnFirstMatch') === true;
  const rows = step.add(
    'core.code',
    {
      code: `${ROWS}
const filters = input.filters;
return filters.length === 0 ? rows : rows.filter((row) => filters.${combine}(({ column, value }) => String(row[column] ?? '') === String(value ?? '')))${isFirst ? '.slice(0, 1)' : ''};`,
      input: { values: template(`nodes.${id}.output.body.values`), filters },
    },
    { suffix: 'rows' },
  );
  return [step.many(`nodes.${rows}.output.result`)];
}

/** What one request does, for a tool: all rows are read, or a row is added. @throws Unmappable */
export function sheetRequest(step: Step): { [name: string]: JsonValue } {
  const operation = step.text('operation', 'read');
  step.approximate(message('import.called_by_hand'));
  step.approximate(message('import.choose_credential'));
  if (operation === 'read' || operation === 'lookup') {
    step.approximate(message('import.sheet_as_lists'));
    return { url: rangeUrl(step), auth: AUTH };
  }
  const schema = arrayOf(step.raw('columns.schema')).map((each) => textOf(objectOf(each).id) ?? '');
  const row = fieldsOf(step);
  const isKnown = isJsonObject(row) && Object.keys(row).every((name) => schema.includes(name));
  if (operation !== 'append' || !isKnown) throw new Unmappable(message('import.tool_of_several'));
  step.approximate(message('import.sheet_order'));
  return {
    method: 'POST',
    url: `${rangeUrl(step)}:append`,
    auth: AUTH,
    query: { valueInputOption: step.text('options.cellFormat', 'USER_ENTERED') },
    body: { values: [schema.map((name) => row[name] ?? '')] },
  };
}

function fieldsOf(step: Step): JsonValue {
  if (step.raw('columns') !== undefined) return columnsAt(step, 'columns');
  const fields = step.raw('fieldsUi.fieldValues') ?? step.raw('fieldsUi.values');
  if (fields === undefined) return step.item();
  const found: { [name: string]: JsonValue } = {};
  for (const each of arrayOf(fields).map(objectOf)) {
    const name = textOf(each.fieldId) ?? textOf(each.column) ?? '';
    if (name !== '' && name !== '__proto__') found[name] = step.value(each.fieldValue ?? null);
  }
  return found;
}

/** A column's name in the sheet itself: a row may be given by these. */
const LETTERS = `const letters = (at) => (at > 25 ? letters(Math.floor(at / 26) - 1) : '') + String.fromCharCode(65 + (at % 26));`;

/** What is written, with the value by which a row is found: the first versions have it in a field of its own. */
function rowOf(step: Step): JsonValue {
  const row = fieldsOf(step);
  const key = keyOf(step);
  const value = step.raw('valueToMatchOn');
  const isAlone = isJsonObject(row) && key !== null && value !== undefined && !Object.hasOwn(row, key);
  return isAlone ? { ...row, [key]: step.value(value) } : row;
}

/** The column by which a row is found. */
function keyOf(step: Step): string | null {
  const [matching] = arrayOf(step.raw('columns.matchingColumns'));
  const named =
    textOf(matching) ??
    textOf(step.raw('columnToMatchOn')) ??
    textOf(step.raw('columnToMatchOn.value')) ??
    textOf(step.raw('options.compareColumn'));
  return named === '' ? null : named;
}

const OPERATIONS: { readonly [operation: string]: string } = {
  append: 'append_row',
  update: 'update_row',
  appendOrUpdate: 'upsert_row',
};

/** The operation of the connector that writes the row; null where rows are found by their number, or columns are named by letters. */
function asOperation(
  step: Step,
  operation: string,
  row: JsonValue,
): { type: string; config: JsonObject } | null {
  const key = keyOf(step);
  const isNumbered = operation === 'update' && (key === null || key === 'row_number');
  const sheet = sheetName(step);
  const isRange = typeof sheet === 'string' && sheet.includes('!');
  const hasLetters = isJsonObject(row) && Object.keys(row).some((name) => /^[A-Z]{1,2}$/.test(name));
  const isPlain = isJsonObject(row) ? Object.keys(row).length > 0 : typeof row === 'string';
  if (isNumbered || isRange || hasLetters || !isPlain) return null;
  // Without a column that tells rows apart, n8n adds one.
  const id = operation === 'appendOrUpdate' && key === null ? 'append' : operation;
  if (id !== operation) step.approximate(message('import.row_added_always'));
  return {
    type: `connector.google_sheets.${OPERATIONS[id]}`,
    config: {
      credential_id: 0,
      spreadsheet_id: asText(step.chosen('documentId') ?? step.chosen('sheetId') ?? ''),
      sheet: asText(sheet ?? 'Sheet1'),
      ...(id === 'append' ? {} : { column: key ?? '' }),
      values: row,
      ignore_unknown: true,
      entry: step.text('options.cellFormat') === 'RAW' ? 'RAW' : 'USER_ENTERED',
    },
  };
}

/** In the order of the sheet's header line, which is read first. */
function append(step: Step, row: JsonValue): readonly Out[] {
  const url = rangeUrl(step);
  const header = step.add('http.request', { url: `${url}!1:1`, auth: AUTH }, { suffix: 'header' });
  const line = step.add(
    'core.code',
    {
      code: `const [header = []] = input.values ?? [];
const known = header.length > 0 ? header : Object.keys(input.row);
${LETTERS}
return known.map((name, at) => input.row[name] ?? input.row[letters(at)] ?? '');`,
      input: { values: template(`nodes.${header}.output.body.values`), row },
    },
    { suffix: 'row' },
  );
  step.add('http.request', {
    method: 'POST',
    url: `${url}:append`,
    auth: AUTH,
    query: { valueInputOption: step.text('options.cellFormat', 'USER_ENTERED') },
    body: { values: [template(`nodes.${line}.output.result`)] },
  });
  return [rowOut(step, row)];
}

/** n8n passes on the row it wrote. */
function rowOut(step: Step, row: JsonValue): Out {
  const id = step.add('core.set', { values: isJsonObject(row) ? { ...row } : { row } }, { suffix: 'result' });
  return step.one(isJsonObject(row) ? `nodes.${id}.output` : `nodes.${id}.output.row`);
}

function update(step: Step, row: JsonValue, appends: boolean): readonly Out[] {
  const named = keyOf(step);
  // The rows that were read have their number.
  const key = named ?? 'row_number';
  if (key !== named) {
    if (appends) {
      step.approximate(message('import.row_added_always'));
      return append(step, row);
    }
    step.approximate(message('import.row_by_number'));
  }
  const numbered = isJsonObject(row) && !Object.hasOwn(row, 'row_number') && key === 'row_number';
  const number = numbered ? step.expression('$json.row_number') : undefined;
  const url = rangeUrl(step);
  const found = step.add('http.request', { url, auth: AUTH }, { suffix: 'rows' });
  const place = step.add(
    'core.code',
    {
      code: `${ROWS}
const { row, key, appends } = input;
const at = key === 'row_number' ? Number(row.row_number) : rows.find((each) => String(each[key]) === String(row[key]))?.row_number;
if (at === undefined && !appends) throw new Error('No row has this value in ' + key);
const old = rows.find((each) => each.row_number === at) ?? {};
const known = header.length > 0 ? header : Object.keys(row);
return { at: at ?? lines.length + 2, values: known.map((name) => row[name] ?? old[name] ?? '') };`,
      input: {
        values: template(`nodes.${found}.output.body.values`),
        row: number === undefined ? row : { ...(row as JsonObject), row_number: number },
        key,
        appends,
      },
    },
    { suffix: 'row' },
  );
  step.add('http.request', {
    method: 'PUT',
    url: `${url}!A{{nodes.${place}.output.result.at}}`,
    auth: AUTH,
    query: { valueInputOption: 'USER_ENTERED' },
    body: { values: [template(`nodes.${place}.output.result.values`)] },
  });
  return [rowOut(step, row)];
}
