import type { JsonValue } from '@millrace/engine';
import { message } from '@millrace/messages';
import { type Scope, TOP, template } from '../../refs.ts';
import type { Compiler, Out } from '../compiler.ts';
import { arrayOf, asText, type N8nNode, objectOf, textOf } from '../read.ts';
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
  /** Fetches the whole item by its id. */
  readonly detail?: string;
}

const POLLS: { readonly [kind: string]: (node: N8nNode) => Poll } = {
  gmailTrigger: ({ parameters }) => ({
    url: 'https://gmail.googleapis.com/gmail/v1/users/me/messages',
    query: {
      q: textOf(objectOf(parameters.filters).q)?.replace(/^=/, '') ?? 'newer_than:1d',
      maxResults: 50,
      ...(objectOf(parameters.filters).readStatus === 'unread' ? { labelIds: 'UNREAD' } : {}),
    },
    items: 'messages',
    id: 'id',
    detail: 'https://gmail.googleapis.com/gmail/v1/users/me/messages/{{item.id | url_encode}}',
  }),
  microsoftOutlookTrigger: () => ({
    url: 'https://graph.microsoft.com/v1.0/me/messages',
    query: { $top: 25 },
    items: 'value',
    id: 'id',
  }),
  googleDriveTrigger: ({ parameters }) => {
    const folder = textOf(objectOf(parameters.folderToWatch).value);
    return {
      url: 'https://www.googleapis.com/drive/v3/files',
      query: {
        orderBy: 'modifiedTime desc',
        fields: 'files(id,name,mimeType,createdTime,modifiedTime,webViewLink)',
        ...(folder === null || folder.startsWith('=')
          ? {}
          : { q: `'${folder.replaceAll("'", '')}' in parents` }),
      },
      items: 'files',
      id: 'id',
    };
  },
  googleSheetsTrigger: ({ parameters }) => {
    const document = textOf(objectOf(parameters.documentId).value) ?? '';
    const sheet = textOf(objectOf(parameters.sheetName).cachedResultName) ?? 'Sheet1';
    return {
      url: `https://sheets.googleapis.com/v4/spreadsheets/${encodeURIComponent(document)}/values/${encodeURIComponent(sheet)}`,
      items: 'values',
      code: "found.slice(1).map((line, at) => ({ row_number: at + 2, ...Object.fromEntries(found[0].map((name, column) => [name, line[column] ?? ''])) }))",
      // A row that was changed counts as new, unless only added ones were asked for.
      id: textOf(parameters.event) === 'rowAdded' ? 'row_number' : '',
    };
  },
  airtableTrigger: ({ parameters }) => {
    const part = (name: string) =>
      encodeURIComponent(textOf(objectOf(parameters[name]).value) ?? textOf(parameters[name]) ?? '');
    return {
      url: `https://api.airtable.com/v0/${part('baseId')}/${part('tableId')}`,
      items: 'records',
      id: 'id',
    };
  },
};

/** A schedule that reads the list, and a loop over what the data store hasn't seen yet. */
export function addPolling(
  compiler: Compiler,
  node: N8nNode,
): { readonly id: string; readonly out: Out } | null {
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
    handle = 'out',
  ) =>
    compiler.add(node, {
      type,
      label: `${node.name}: ${label}`,
      config,
      scope,
      after: after === '' ? [] : [{ id: after, handle }],
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
  if (poll.detail === undefined) {
    return {
      id,
      out: { exit: { id: isNew, handle: 'true' }, ref: { kind: 'one', path: 'item', scope, owner: null } },
    };
  }
  const detail = add('read', 'http.request', { url: poll.detail, auth: AUTH }, scope, isNew, 'true');
  return {
    id,
    out: {
      exit: { id: detail, handle: 'out' },
      ref: { kind: 'one', path: `nodes.${detail}.output.body`, scope, owner: detail },
    },
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
