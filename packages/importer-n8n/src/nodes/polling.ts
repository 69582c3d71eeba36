import type { JsonValue } from '@millrace/engine';
import { type Scope, TOP, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Compiler, Out } from '../compiler.ts';
import { arrayOf, asText, type N8nNode, objectOf, parameterOf, textOf } from '../read.ts';
import { withAttachments } from './late-files.ts';
import { AUTH } from './parts.ts';

/** A list that is read again and again: how, and what tells its items apart. */
interface Poll {
  readonly url: string;
  readonly query?: { readonly [name: string]: JsonValue };
  /** The list in the response. */
  readonly items: string;
  readonly id: string;
  /** Makes items of the list in the response; `found` is that list. */
  readonly code?: string;
}

/** A trigger of a service that finds the same: its settings, and what n8n calls the members of its data. */
interface SameTrigger {
  readonly type: string;
  readonly config: { readonly [name: string]: JsonValue };
  /** Whether it finds the same items, with the same data. */
  readonly isSame: boolean;
}

/** Triggers that n8n polls for. Null: nothing here finds the same. */
const TRIGGERS: { readonly [kind: string]: (node: N8nNode) => SameTrigger | null } = {
  gmailTrigger: (node) => {
    const filter = (name: string) => parameterOf(node, `filters.${name}`);
    const query = [
      fixed(filter('q')),
      filter('readStatus') === 'unread' ? 'is:unread' : '',
      senderOf(filter('sender')),
    ];
    const labels = arrayOf(filter('labelIds')).flatMap((each) => textOf(each) ?? []);
    return {
      type: 'trigger.gmail.new_message',
      config: {
        query: query.filter((part) => part !== '').join(' '),
        ...(labels.length === 0 ? {} : { label_ids: labels }),
      },
      // n8n's simple form has the headers as members of their own.
      isSame: false,
    };
  },
  microsoftOutlookTrigger: ({ parameters }) => ({
    type: 'trigger.microsoft_outlook.new_message',
    config: {},
    isSame: textOf(parameters.output) === 'raw' && Object.keys(objectOf(parameters.filters)).length === 0,
  }),
  googleDriveTrigger: ({ parameters }) => {
    const event = fixed(parameters.event);
    const isOfFile = fixed(parameters.triggerOn) === 'specificFile';
    const isNew = /^(?:file|folder)Created$/.test(event);
    return {
      type: isNew ? 'trigger.google_drive.new_file' : 'trigger.google_drive.changed_file',
      config: isOfFile ? {} : { folder_id: chosen(parameters.folderToWatch) },
      isSame: !isOfFile && /^file(?:Created|Updated)$/.test(event),
    };
  },
  googleSheetsTrigger: ({ parameters }) =>
    fixed(parameters.event) === 'rowAdded'
      ? {
          type: 'trigger.google_sheets.new_row',
          config: {
            spreadsheet_id: chosen(parameters.documentId),
            sheet: textOf(objectOf(parameters.sheetName).cachedResultName) ?? chosen(parameters.sheetName),
          },
          isSame: typeof objectOf(parameters.sheetName).cachedResultName === 'string',
        }
      : null,
  airtableTrigger: ({ parameters }) => ({
    type: 'trigger.airtable.new_record',
    config: { base_id: chosen(parameters.baseId), table: chosen(parameters.tableId) },
    // n8n looks at a field of the author's choice, which may be the time of a change.
    isSame: /creat/i.test(fixed(parameters.triggerField)),
  }),
  googleCalendarTrigger: ({ parameters }) => {
    const event = fixed(parameters.triggerOn);
    return {
      type:
        event === 'eventStarted'
          ? 'trigger.google_calendar.event_started'
          : 'trigger.google_calendar.event_created',
      config: { calendar_id: chosen(parameters.calendarId) },
      isSame: event === 'eventStarted' || event === 'eventCreated',
    };
  },
  notionTrigger: ({ parameters }) => ({
    type: 'trigger.notion.new_page',
    config: { database_id: chosen(parameters.databaseId) },
    isSame: fixed(parameters.event) === 'pageAddedToDatabase' && parameters.simple === false,
  }),
  salesforceTrigger: ({ parameters }) => {
    const event = fixed(parameters.triggerOn);
    const [, object = ''] = /^(\w+)(?:Created|Updated)$/.exec(event) ?? [];
    const own = object === 'customObject' ? chosen(parameters.customObject) : object;
    return {
      type: 'trigger.salesforce.new_record',
      config: { domain: '', object: own.charAt(0).toUpperCase() + own.slice(1), fields: [] },
      isSame: false,
    };
  },
  microsoftOneDriveTrigger: ({ parameters }) => ({
    type: 'trigger.microsoft_onedrive.new_file',
    config: { folder_id: chosen(parameters.folderId) || 'root' },
    isSame: fixed(parameters.event) === 'fileCreated',
  }),
};

/** A parameter that is no expression; empty otherwise. */
function fixed(value: JsonValue | undefined): string {
  const text = textOf(value) ?? '';
  return text.startsWith('=') ? '' : text;
}

/** What was chosen from a list, or written. */
function chosen(value: JsonValue | undefined): string {
  return fixed(value) || fixed(objectOf(value).value);
}

function senderOf(sender: JsonValue | undefined): string {
  const text = fixed(sender);
  return text === '' ? '' : `from:${text}`;
}

/** Lists for which there is no trigger. */
const POLLS: { readonly [kind: string]: (node: N8nNode) => Poll } = {
  googleSheetsTrigger: ({ parameters }) => {
    const document = textOf(objectOf(parameters.documentId).value) ?? '';
    const sheet = textOf(objectOf(parameters.sheetName).cachedResultName) ?? 'Sheet1';
    return {
      url: `https://sheets.googleapis.com/v4/spreadsheets/${encodeURIComponent(document)}/values/${encodeURIComponent(sheet)}`,
      items: 'values',
      code: "found.slice(1).map((line, at) => ({ row_number: at + 2, ...Object.fromEntries(found[0].map((name, column) => [name, line[column] ?? ''])) }))",
      // A row that was changed counts as new.
      id: '',
    };
  },
};

/** What polls for a trigger of n8n that does; null for others. */
export function addPolling(
  compiler: Compiler,
  node: N8nNode,
): { readonly id: string; readonly out: Out } | null {
  const same = Object.hasOwn(TRIGGERS, node.kind) ? TRIGGERS[node.kind]?.(node) : null;
  if (same == null) return addSchedule(compiler, node);
  const { seconds, isExact } = pollInterval(node);
  const id = compiler.add(node, {
    type: same.type,
    config: { credential_id: 0, ...same.config, interval_s: seconds },
    scope: TOP,
    after: [],
  });
  compiler.approximate(node, message('import.choose_credential'));
  if (!same.isSame) compiler.approximate(node, message('import.polled_otherwise'));
  if (!isExact) compiler.approximate(node, message('import.polled_at_interval'));
  const ref = { kind: 'one' as const, path: 'trigger.data', scope: TOP, owner: id };
  return { id, out: withAttachments(compiler, node, { exit: { id, handle: 'out' }, ref }) };
}

/** A schedule that reads the list, and a loop over what the data store hasn't seen yet. */
function addSchedule(compiler: Compiler, node: N8nNode): { readonly id: string; readonly out: Out } | null {
  const poll = Object.hasOwn(POLLS, node.kind) ? POLLS[node.kind]?.(node) : undefined;
  if (poll === undefined) return null;
  const id = compiler.add(node, {
    type: 'trigger.schedule',
    config: { schedule: scheduleOf(node), timezone: 'UTC', overlap: 'skip' },
    scope: TOP,
    after: [],
  });
  const add = (
    label: string,
    type: string,
    config: { [name: string]: JsonValue },
    scope: Scope,
    after: string,
  ) =>
    compiler.add(node, {
      type,
      label: `${node.name}: ${label}`,
      config,
      scope,
      after: after === '' ? [] : [{ id: after, handle: 'out' }],
    });
  const list = add(
    'list',
    'http.request',
    { url: poll.url, ...(poll.query === undefined ? {} : { query: poll.query }), auth: AUTH },
    TOP,
    id,
  );
  const items = add(
    'items',
    'core.code',
    {
      code: `const found = input.items ?? [];\nreturn ${poll.code ?? 'found'};`,
      input: { items: template(`nodes.${list}.output.body.${poll.items}`) },
    },
    TOP,
    list,
  );
  const loop = add('new', 'core.for_each', { items: template(`nodes.${items}.output.result`) }, TOP, items);
  const scope: Scope = { id: loop, parent: TOP, kind: 'items', list: `nodes.${items}.output.result` };
  const key = `seen/${compiler.builder.reserve(`${node.name} seen`)}/${template(poll.id === '' ? 'item | json | hash' : `item.${poll.id}`)}`;
  const seen = add(
    'seen?',
    'data.store',
    { operation: 'set', key, value: true, only_if_absent: true, expires_in_s: 31_536_000 },
    scope,
    '',
  );
  const isNew = add(
    'new?',
    'core.if',
    { conditions: [{ left: template(`nodes.${seen}.output.written`), operator: 'is_true' }] },
    scope,
    seen,
  );
  compiler.approximate(node, message('import.polled'));
  compiler.approximate(node, message('import.choose_credential'));
  return {
    id,
    out: { exit: { id: isNew, handle: 'true' }, ref: { kind: 'one', path: 'item', scope, owner: null } },
  };
}

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

/** How often a node polls, for triggers that do so at an interval. */
export function pollInterval(node: N8nNode): { readonly seconds: number; readonly isExact: boolean } {
  const listed = arrayOf(objectOf(node.parameters.pollTimes).item).map(objectOf);
  const mode = textOf(listed[0]?.mode);
  const isOnly = listed.length < 2;
  if (mode === 'everyX') {
    const count = Number(listed[0]?.value ?? 2) || 2;
    const seconds = count * (listed[0]?.unit === 'minutes' ? MINUTE_S : HOUR_S);
    const kept = Math.min(Math.max(Math.round(seconds), MINUTE_S), DAY_S);
    return { seconds: kept, isExact: isOnly && kept === seconds };
  }
  if (mode === 'everyHour') return { seconds: HOUR_S, isExact: false };
  if (mode === 'everyDay' || mode === 'everyWeek' || mode === 'everyMonth')
    return { seconds: DAY_S, isExact: false };
  return { seconds: MINUTE_S, isExact: isOnly && mode !== 'custom' };
}

function scheduleOf({ parameters }: N8nNode): JsonValue {
  const [first] = arrayOf(objectOf(parameters.pollTimes).item).map(objectOf);
  const minute = typeof first?.minute === 'number' ? first.minute : 0;
  const hour = typeof first?.hour === 'number' ? first.hour : 14;
  switch (textOf(first?.mode)) {
    case 'everyHour':
      return { type: 'cron', cron: `${minute} * * * *` };
    case 'everyDay':
      return { type: 'cron', cron: `${minute} ${hour} * * *` };
    case 'everyWeek':
      return { type: 'cron', cron: `${minute} ${hour} * * ${asText(first?.weekday ?? 1)}` };
    case 'everyMonth':
      return { type: 'cron', cron: `${minute} ${hour} ${asText(first?.dayOfMonth ?? 1)} * *` };
    case 'custom':
      return { type: 'cron', cron: textOf(first?.cronExpression) ?? '* * * * *' };
    case 'everyX':
      return {
        type: 'every',
        every: Number(first?.value ?? 2) || 2,
        unit: first?.unit === 'minutes' ? 'minutes' : 'hours',
      };
    default:
      return { type: 'every', every: 1, unit: 'minutes' };
  }
}
