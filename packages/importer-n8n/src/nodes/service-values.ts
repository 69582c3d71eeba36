import { isJsonObject, type JsonObject, type JsonValue, own } from '@millrace/engine';
import { message } from '@millrace/messages';
import { jsonParam } from '../json-text.ts';
import { arrayOf, asText, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { MORE_CONVERTERS } from './service-values-more.ts';

/** Makes what a service takes out of parameters that n8n keeps in another form. `path` is the parameter. */
export const CONVERTERS: {
  readonly [name: string]: (step: Step, path: string) => JsonValue | undefined;
} = {
  ...MORE_CONVERTERS,
  columns: (step, path) => columnsAt(step, path),
  columns_without_id: (step, path) => {
    const value = columnsAt(step, path);
    if (!isJsonObject(value)) return value;
    const { id: _id, ...rest } = value;
    return rest;
  },
  item_fields: (step) => step.item(),
  item_columns: (step) => pick(step, listOfNames(step.raw('columns') ?? step.raw('fieldsToSend.inputs'))),
  names: (step, path) => {
    const names = arrayOf(step.raw(path)).map((each) => asText(step.value(objectOf(each).name ?? '')));
    return names.length === 0 ? undefined : names.join(',');
  },
  gmail_query: gmailQuery,
  calendar_guests: (step, path) => {
    const given = arrayOf(step.raw(path));
    if (given.length === 0) return undefined;
    // What a model fills in can't be taken apart: it is one address.
    if (step.toolArguments !== null) return given.map((each) => ({ email: step.value(each) }));
    const sources = given.map((each) => step.source(each)).join(', ');
    return step.computed(
      `[${sources}].flatMap((each) => String(each).split(',')).map((each) => each.trim()).filter(Boolean).map((email) => ({ email }))`,
    );
  },
  pairs: (step, path) => pairsAt(step, path, 'name', 'value'),
  telegram_keyboard: (step, path) => {
    const rows = arrayOf(step.raw(`${path}.rows`)).map((row) =>
      arrayOf(objectOf(objectOf(row).row).buttons).map((each) => {
        const button = objectOf(each);
        return {
          text: step.value(button.text ?? ''),
          ...(step.value(objectOf(button.additionalFields)) as object),
        };
      }),
    );
    return rows.length === 0 ? undefined : rows;
  },
  // Since version 1.2, messages show no preview of links unless they are told to.
  telegram_no_preview: (step, path) => {
    const given = step.raw(path);
    if (given !== undefined && given !== '') return step.chosen(path);
    return step.node.version >= 1.2 ? true : undefined;
  },
  slack_blocks: (step, path) => {
    const value = step.raw(path);
    if (value === undefined) return undefined;
    const text = step.source(value);
    return step.computed(
      `((value) => { const all = typeof value === 'string' ? JSON.parse(value) : value; return all?.blocks ?? all; })(${text})`,
    );
  },
  gmail_raw: gmailRaw,
  drive_query: (step) => {
    const query = step.raw('queryString') ?? '';
    if (step.text('searchMethod', 'name') === 'query') return step.value(query);
    const source = step.source(query);
    const folder = objectOf(step.raw('filter.folderId')).value;
    const inFolder = folder === undefined ? '' : ` + " and '" + ${step.source(folder)} + "' in parents"`;
    return step.computed(
      `"name contains '" + String(${source}).replaceAll("'", "\\\\'") + "' and trashed = false"${inFolder}`,
    );
  },
  outlook_people: (step, path) => {
    const source = step.source(step.raw(path) ?? '');
    return step.computed(
      `String(${source}).split(',').map((address) => ({ emailAddress: { address: address.trim() } }))`,
    );
  },
  docs_requests: (step, path) =>
    arrayOf(step.raw(`${path}.actionFields`)).map((each) => {
      const action = objectOf(each);
      if (action.action === 'insert')
        return { insertText: { text: step.value(action.text ?? ''), endOfSegmentLocation: {} } };
      if (action.action === 'replaceAll')
        return {
          replaceAllText: {
            containsText: { text: step.value(action.text ?? ''), matchCase: true },
            replaceText: step.value(action.replaceText ?? ''),
          },
        };
      throw new Unmappable(message('import.unknown_operation', { operation: asText(action.action) }));
    }),
  notion_properties: notionProperties,
  supabase_fields: rowFields,
  supabase_filters: supabaseFilters,
  ga_names: (step, path) =>
    arrayOf(step.raw(path)).map((each) => ({
      name:
        textOf(objectOf(each).name) ??
        textOf(objectOf(each).listName) ??
        (path.startsWith('metrics') ? 'totalUsers' : 'date'),
    })),
  baserow_fields: (step) => (hasFieldIds(step) ? fieldsById(step) : rowFields(step)),
  // By their names, unless they are written by their numbers.
  baserow_names: (step) => (hasFieldIds(step) ? undefined : true),
  nocodb_fields: (step) =>
    step.text('dataToSend', 'defineBelow') === 'autoMapInputData'
      ? step.item()
      : pairsAt(step, 'fieldsUi.fieldValues', 'fieldName', 'fieldValue'),
  json: (step, path) => {
    const value = step.raw(path);
    return value === undefined || value === '' ? {} : (jsonParam(step, value) ?? step.value(value));
  },
  chat_messages: (step, path) =>
    arrayOf(step.raw(path)).map((each) => {
      const { role, content } = objectOf(each);
      return { role: step.value(role ?? 'user'), content: step.value(content ?? '') };
    }),
  // The root is the empty path.
  dropbox_path: (step, path) => {
    const value = step.param(path, '');
    return value === '/' ? '' : value;
  },
  // A name such as owner/actor has a tilde in addresses.
  apify_actor: (step, path) => {
    const value = step.chosen(path);
    return typeof value === 'string' && !value.includes('{{') ? value.replace('/', '~') : value;
  },
  firecrawl_formats: (step, path) => {
    const formats = arrayOf(step.raw(path)).map((each) => textOf(objectOf(each).type) ?? 'markdown');
    return formats.length === 0 ? undefined : formats;
  },
  linkedin_author: (step, path) => {
    const isOrganisation = step.text('postAs', 'person') === 'organization';
    const id = step.chosen(isOrganisation ? 'organization' : path);
    return `urn:li:${isOrganisation ? 'organization' : 'person'}:${asText(id)}`;
  },
  linkedin_text: (step, path) => {
    // An image is uploaded by two more calls, which know where to only from each other.
    if (step.text('shareMediaCategory', 'NONE') === 'IMAGE') throw new Unmappable(message('import.no_files'));
    return step.param(path, '');
  },
  comma: (step, path) => {
    const value = step.param(path);
    return Array.isArray(value) ? value.map(asText).join(',') : (value ?? undefined);
  },
  // n8n keeps values in one field, separated by commas; the service takes a list of them for each column.
  grist_filter: (step, path) => {
    const each = arrayOf(step.raw(path)).map(objectOf);
    if (each.length === 0) return undefined;
    const parts = each.map(
      ({ field, values }) =>
        `[${JSON.stringify(asText(field))}]: String(${step.source(values)}).split(',').map((value) => value.trim())`,
    );
    return step.computed(`JSON.stringify({ ${parts.join(', ')} })`);
  },
  grist_fields: (step) =>
    step.text('dataToSend', 'defineInNode') === 'autoMapInputs'
      ? step.item()
      : pairsAt(step, 'fieldsToSend.properties', 'fieldId', 'fieldValue'),
  bubble_fields: (step, path) => pairsAt(step, path, 'key', 'value'),
  brevo_people: (step, path) =>
    step.computed(
      `String(${step.source(step.raw(path) ?? '')}).split(',').map((address) => ({ email: address.trim() }))`,
    ),
  erpnext_fields: (step) => pairsAt(step, 'properties.customProperty', 'field', 'value'),
  perspective: (step) =>
    Object.fromEntries(
      arrayOf(step.raw('requestedAttributesUi.requestedAttributesValues')).map((each) => {
        const { attributeName = '', scoreThreshold = 0 } = objectOf(each);
        const name = asText(attributeName).toUpperCase() || 'TOXICITY';
        return [name, { scoreType: 'probability', scoreThreshold: step.value(scoreThreshold) }];
      }),
    ),
};

/** Whether a row of Baserow is written by the numbers of its fields. */
function hasFieldIds(step: Step): boolean {
  const fields = arrayOf(step.raw('fieldsUi.fieldValues')).map(objectOf);
  return (
    step.text('dataToSend', 'defineBelow') !== 'autoMapInputData' &&
    fields.length > 0 &&
    fields.every(({ fieldId }) => /^\d+$/.test(asText(fieldId ?? '')))
  );
}

function fieldsById(step: Step): JsonValue {
  const fields = arrayOf(step.raw('fieldsUi.fieldValues')).map(objectOf);
  return Object.fromEntries(
    fields.map(({ fieldId = '', fieldValue = '' }) => [`field_${asText(fieldId)}`, step.value(fieldValue)]),
  );
}

/** The fields that a row is made of: those listed, or the item itself. */
function rowFields(step: Step): JsonValue {
  return step.text('dataToSend', 'defineBelow') === 'autoMapInputData'
    ? step.item()
    : pairsAt(step, 'fieldsUi.fieldValues', 'fieldId', 'fieldValue');
}

/** The columns that a resource mapper sets: those listed, or the item itself. */
export function columnsAt(step: Step, path: string): JsonValue {
  const mode = step.text(`${path}.mappingMode`, 'defineBelow');
  if (mode === 'autoMapInputData') return step.item();
  const value = step.raw(`${path}.value`);
  if (typeof value === 'string') return step.value(value);
  const given = objectOf(step.raw(path));
  if (value === undefined && Object.keys(given).length > 0) return meantColumns(step, path, given);
  const { schema } = given;
  const removed = new Set(
    arrayOf(schema)
      .map(objectOf)
      .flatMap((each) => (each.removed === true ? [asText(each.id)] : [])),
  );
  const kept = Object.entries(objectOf(value)).filter(([name]) => !removed.has(name) && name !== '__proto__');
  return Object.fromEntries(kept.map(([name, item]) => [name, step.value(item ?? null)]));
}

/** Columns in a form that n8n doesn't write: pairs of names and values, if that is plain. @throws Unmappable */
function meantColumns(step: Step, path: string, { mappings, mappingMode }: JsonObject): JsonValue {
  const pairs = arrayOf(mappings).map(objectOf);
  if (mappingMode !== undefined) return {};
  const names = pairs.map(({ toField, column, name }) => textOf(toField ?? column ?? name) ?? '');
  if (pairs.length === 0 || names.some((name) => name === '' || name === '__proto__' || name.includes('{{')))
    throw new Unmappable(message('import.columns_unreadable'));
  step.approximate(message('import.nearest_columns'));
  return Object.fromEntries(
    names.map((name, index) => [name, step.param(`${path}.mappings.${index}.value`)]),
  );
}

function pairsAt(step: Step, path: string, nameMember: string, valueMember: string): JsonValue {
  const found: { [name: string]: JsonValue } = {};
  for (const each of arrayOf(step.raw(path)).map(objectOf)) {
    const name = step.value(each[nameMember] ?? '');
    if (typeof name !== 'string' || name === '' || name === '__proto__') continue;
    if (name.includes('{{')) throw new Unmappable(message('import.name_is_expression', { name }));
    found[name] = step.value(each[valueMember] ?? null);
  }
  return found;
}

function listOfNames(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return value.split(',').map((name) => name.trim());
  return arrayOf(value).flatMap((each) => textOf(objectOf(each).fieldId) ?? []);
}

function pick(step: Step, names: readonly string[]): JsonValue {
  if (names.length === 0) return step.item();
  const list = JSON.stringify(names.filter((name) => name !== ''));
  return step.computed(`Object.fromEntries(${list}.map((name) => [name, $json[name]]))`);
}

/** What Gmail searches for: n8n keeps parts of it in fields of their own. */
function gmailQuery(step: Step, path: string): JsonValue | undefined {
  const status = step.text(`${path}.readStatus`);
  type Part = readonly [value: JsonValue | undefined, part: (source: string) => string];
  const written: readonly Part[] = [
    [step.raw(`${path}.q`), (source: string) => source],
    [step.raw(`${path}.sender`), (source: string) => `'from:' + ${source}`],
    [status === 'both' ? '' : status, (source: string) => `'is:' + ${source}`],
    ...['After', 'Before'].map(
      (when): Part => [
        step.raw(`${path}.received${when}`),
        (source: string) => `'${when.toLowerCase()}:' + Math.floor(new Date(${source}).getTime() / 1000)`,
      ],
    ),
  ];
  const set = written.filter(([value]) => value !== undefined && value !== '');
  if (set.length === 0) return undefined;
  if (set.length === 1 && step.raw(`${path}.q`)) return step.param(`${path}.q`);
  const parts = set.map(([value, part]) => part(step.source(value)));
  return step.computed(`[${parts.join(', ')}].join(' ')`);
}

/** An e-mail as Gmail takes it: its source text in base64url. */
function gmailRaw(step: Step): JsonValue {
  const header = (name: string, path: string): string => {
    const value = step.raw(path);
    return value === undefined || value === ''
      ? ''
      : `${JSON.stringify(`${name}: `)} + ${step.source(value)} + "\\r\\n" + `;
  };
  const isHtml = step.text('emailType', step.node.version >= 2 ? 'html' : 'text') === 'html';
  const body = step.source(step.raw('message') ?? step.raw('htmlMessage') ?? '');
  const encode =
    '((text) => btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""))';
  const subject = step.source(step.raw('subject') ?? '');
  const encodedSubject = `"Subject: =?utf-8?B?" + btoa(Array.from(new TextEncoder().encode(String(${subject})), (byte) => String.fromCharCode(byte)).join("")) + "?=\\r\\n" + `;
  if (step.raw('options.attachmentsUi') !== undefined) step.approximate(message('import.no_attachments'));
  return step.computed(
    `${encode}(${header('To', 'sendTo')}${header('To', 'toEmail')}${header('To', 'options.sendTo')}${header('Reply-To', 'options.replyTo')}${header('Cc', 'options.ccList')}${header('Bcc', 'options.bccList')}${encodedSubject}"Content-Type: text/${isHtml ? 'html' : 'plain'}; charset=utf-8\\r\\n\\r\\n" + ${body})`,
  );
}

const NOTION_VALUES: {
  readonly [kind: string]: (step: Step, value: { readonly [name: string]: JsonValue }) => JsonValue;
} = {
  title: (step, { title }) => ({ title: [{ text: { content: step.value(title ?? '') } }] }),
  rich_text: (step, { textContent }) => ({
    rich_text: [{ text: { content: step.value(textContent ?? '') } }],
  }),
  number: (step, { numberValue }) => ({ number: step.value(numberValue ?? null) }),
  select: (step, { selectValue }) => ({ select: { name: step.value(selectValue ?? '') } }),
  status: (step, { statusValue }) => ({ status: { name: step.value(statusValue ?? '') } }),
  checkbox: (step, { checkboxValue }) => ({ checkbox: step.value(checkboxValue ?? false) }),
  url: (step, { urlValue }) => ({ url: step.value(urlValue ?? null) }),
  email: (step, { emailValue }) => ({ email: step.value(emailValue ?? null) }),
  phone_number: (step, { phoneValue }) => ({ phone_number: step.value(phoneValue ?? null) }),
  date: (step, { date, dateValue }) => ({ date: { start: step.value(date ?? dateValue ?? null) } }),
  multi_select: (step, { multiSelectValue }) => ({
    multi_select: namedList(step, multiSelectValue ?? null, '{ name: each }'),
  }),
  relation: (step, { relationValue }) => ({
    relation: namedList(step, relationValue ?? null, '{ id: each }'),
  }),
  people: (step, { peopleValue }) => ({ people: namedList(step, peopleValue ?? null, '{ id: each }') }),
  files: (step, { fileUrls }) => ({
    files: arrayOf(objectOf(fileUrls).fileUrl).map((each) => {
      const { name, url } = objectOf(each);
      return { name: step.value(name ?? url ?? ''), external: { url: step.value(url ?? '') } };
    }),
  }),
};

/** A value, a list, or a text with commas between the parts. */
function namedList(step: Step, given: JsonValue, each: string): JsonValue {
  const source = Array.isArray(given)
    ? `[${given.map((part: JsonValue) => step.source(part)).join(', ')}]`
    : step.source(given);
  return step.computed(
    `((value) => (Array.isArray(value) ? value.flat() : String(value ?? '').split(',')).map((each) => String(each).trim()).filter(Boolean).map((each) => (${each})))(${source})`,
  );
}

/** Which kind a property without one has, by the value that is given. */
const KIND_BY_VALUE: readonly (readonly [string, string])[] = [
  ['title', 'title'],
  ['textContent', 'rich_text'],
  ['richText', 'rich_text'],
  ['numberValue', 'number'],
  ['selectValue', 'select'],
  ['multiSelectValue', 'multi_select'],
  ['statusValue', 'status'],
  ['checkboxValue', 'checkbox'],
  ['urlValue', 'url'],
  ['emailValue', 'email'],
  ['phoneValue', 'phone_number'],
  ['date', 'date'],
  ['dateValue', 'date'],
  ['relationValue', 'relation'],
  ['peopleValue', 'people'],
  ['fileUrls', 'files'],
];

function notionProperties(step: Step): JsonValue {
  const found: { [name: string]: JsonValue } = {};
  const title = step.raw('title');
  if (title !== undefined && title !== '')
    found.title = { title: [{ text: { content: step.value(title) } }] };
  for (const each of arrayOf(step.raw('propertiesUi.propertyValues')).map(objectOf)) {
    const [written = '', given = ''] = (textOf(each.key) ?? '').split('|');
    const name = written.trim();
    const byValue = KIND_BY_VALUE.find(([member]) => Object.hasOwn(each, member))?.[1] ?? '';
    const kind = Object.hasOwn(NOTION_VALUES, given) ? given : given === '' ? byValue : given;
    const make = own(NOTION_VALUES, kind);
    if (make === undefined || name === '')
      throw new Unmappable(message('import.unknown_operation', { operation: kind }));
    found[name] = make(step, each);
  }
  return found;
}

function supabaseFilters(step: Step): JsonValue {
  const found: { [name: string]: JsonValue } = {};
  if (step.text('filterType') === 'string') {
    step.approximate(message('import.check_query'));
    return { filter: step.param('filterString', '') };
  }
  for (const each of arrayOf(step.raw('filters.conditions')).map(objectOf)) {
    const name = textOf(each.keyName);
    if (name === null) continue;
    const operator = textOf(each.condition) ?? 'eq';
    const value = step.value(each.keyValue ?? '');
    found[name] = `${operator}.${asText(value)}`;
  }
  return found;
}
