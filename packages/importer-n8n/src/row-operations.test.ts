import type { Flow, JsonObject, JsonValue } from '@millrace/engine';
import { expect, it } from 'vitest';
import { configOf, n8n, outcomeOf, read, START } from './testing.ts';

/** One node behind a trigger, and what follows it. */
function imported(type: string, parameters: JsonObject, version = 4.5, value = '={{ $json.id }}') {
  const here = { assignments: { assignments: [{ name: 'x', type: 'string', value }] } };
  const nodes = {
    Start: START,
    Tell: { type, version, parameters },
    Here: { type: 'set', version: 3.4, parameters: here },
  };
  const result = read(
    n8n(nodes, [
      ['Start', 'Tell'],
      ['Tell', 'Here'],
    ]),
  );
  const { nodes: made } = (result.workflow?.flow_data ?? { nodes: [] }) as unknown as Flow;
  return {
    types: made.slice(1).map((each) => each.type),
    config: configOf(result, 'Tell'),
    read: configOf(result, 'Here')?.values,
    kind: outcomeOf(result, 'Tell')?.kind,
  };
}

const rl = (value: string, mode = 'id') => ({ __rl: true, mode, value });
const SHEET = { documentId: rl('doc1'), sheetName: rl('Orders', 'name') };
const columns = (value: JsonObject, matchingColumns: readonly string[] = []): JsonValue => ({
  mappingMode: 'defineBelow',
  value,
  matchingColumns,
});
const COMMON = { credential_id: 0, spreadsheet_id: 'doc1', sheet: 'Orders', ignore_unknown: true };

it.each<[string, JsonObject, string, JsonObject]>([
  [
    'append',
    { columns: columns({ id: '={{ $json.id }}', state: 'new' }), options: { cellFormat: 'RAW' } },
    'append_row',
    { values: { id: '{{trigger.data.id}}', state: 'new' }, entry: 'RAW' },
  ],
  [
    'update',
    { columns: columns({ id: '17', state: 'paid' }, ['id']) },
    'update_row',
    { column: 'id', values: { id: '17', state: 'paid' }, entry: 'USER_ENTERED' },
  ],
  [
    'appendOrUpdate',
    { columns: { mappingMode: 'autoMapInputData', matchingColumns: ['id'] } },
    'upsert_row',
    { column: 'id', values: '{{trigger.data}}', entry: 'USER_ENTERED' },
  ],
  [
    'update',
    {
      columnToMatchOn: 'id',
      valueToMatchOn: '17',
      fieldsUi: { values: [{ column: 'state', fieldValue: 'paid' }] },
    },
    'update_row',
    { column: 'id', values: { id: '17', state: 'paid' }, entry: 'USER_ENTERED' },
  ],
])('%s of Google Sheets is the operation of the connector', (operation, more, id, config) => {
  const made = imported('googleSheets', { ...SHEET, operation, ...more });
  expect(made.types[0]).toBe(`connector.google_sheets.${id}`);
  expect(made.config).toEqual({ ...COMMON, ...config });
  expect(made.kind).toBe('approximated');
});

it('rows by their number stay requests', () => {
  const made = imported('googleSheets', {
    ...SHEET,
    operation: 'update',
    columns: columns({ state: 'paid' }),
  });
  expect(made.types).toContain('http.request');
});

it('a mail of Gmail is the operation of the connector', () => {
  const parameters = {
    sendTo: '={{ $json.mail }}',
    subject: 'Hello',
    message: '<p>Hi</p>',
    options: { ccList: 'bo@example.com', replyTo: 'shop@example.com', appendAttribution: false },
  };
  const made = imported('gmail', parameters, 2.1);
  expect(made.types[0]).toBe('connector.gmail.send_message');
  expect(made.config).toEqual({
    credential_id: 0,
    to: '{{trigger.data.mail | string}}',
    subject: 'Hello',
    text: '<p>Hi</p>',
    format: 'html',
    cc: 'bo@example.com',
    reply_to: 'shop@example.com',
  });
  expect(made.read).toEqual({ x: '{{nodes.tell.output.id}}' });
});

it('files before a mail become its attachments', () => {
  const get = { url: 'https://files.example.com/a.pdf', options: {} };
  const mail = {
    sendTo: 'ada@example.com',
    subject: 'Invoice',
    emailType: 'text',
    message: 'Here.',
    options: { attachmentsUi: { attachmentsBinary: [{ property: 'data' }] } },
  };
  const result = read(
    n8n(
      {
        Start: START,
        Get: { type: 'httpRequest', version: 4.2, parameters: get },
        Mail: { type: 'gmail', version: 2.1, parameters: mail },
      },
      [
        ['Start', 'Get'],
        ['Get', 'Mail'],
      ],
    ),
  );
  expect(configOf(result, 'Get')?.response_type).toBe('file');
  expect(configOf(result, 'Mail')).toMatchObject({
    format: 'plain',
    attachments: ['{{nodes.get.output.body}}'],
  });
});

it.each<[string, JsonObject, string, JsonObject, string, JsonValue]>([
  [
    'list of files',
    { operation: 'getAll', bucketName: 'lamps', returnAll: true, options: { folderKey: 'a/' } },
    'list_files',
    { bucket: 'lamps', prefix: 'a/', limit: 10_000 },
    '={{ $json.Key }}',
    { x: '{{item.Key}}' },
  ],
  [
    'copy',
    { operation: 'copy', sourcePath: '/lamps/a b.txt', destinationPath: '/archive/2026/a.txt' },
    'copy_file',
    { source_bucket: 'lamps', source_key: 'a b.txt', bucket: 'archive', key: '2026/a.txt' },
    '={{ $json.ETag }}',
    { x: '{{nodes.tell.output.etag}}' },
  ],
  [
    'list of buckets',
    { resource: 'bucket', operation: 'getAll', limit: 5 },
    'list_buckets',
    { limit: 5 },
    '={{ $json.Name }}',
    { x: '{{item.Name}}' },
  ],
])('a %s of Amazon S3 is the operation of the connector', (_, parameters, id, config, value, expected) => {
  const made = imported('awsS3', parameters, 2, value);
  expect(made.types[0]).toBe(`connector.s3.${id}`);
  expect(made.config).toMatchObject({ region: '{{vars.aws_region}}', ...config });
  if (made.read !== undefined) expect(made.read).toEqual(expected);
});
