import type { JsonObject } from '@millrace/engine';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ImapServer } from './imap-server.ts';
import { PATIENCE, useListening } from './world.ts';

const world = useListening();
let server: ImapServer;
let credential = 0;

beforeEach(async () => {
  server = await ImapServer.start();
  credential = await world.credential('imap', fields());
});
afterEach(() => server.stop());

const fields = (): JsonObject => ({
  ...{ host: '127.0.0.1', port: server.port, security: 'none', username: 'ada', password: 'canary-pass' },
});
const mailbox = (more: JsonObject = {}) =>
  world.workflow('trigger.email', { credential_id: credential, ...more });
const mail = (subject: string, body = 'Two tins, please.') =>
  `From: Ada <ada@example.com>\nTo: orders@tea.example.com\nSubject: ${subject}\nMessage-ID: <${subject}@x>\nDate: Fri, 2 Jan 2026 09:00:00 +0000\n\n${body}`;
const seen = () => server.mails().filter(({ flags }) => flags.has('\\Seen')).length;
const idles = () => expect.poll(() => server.commands.at(-1), PATIENCE).toBe('IDLE');

test('starts each mail that arrives once, and marks it as read after the start', async () => {
  server.deliver(mail('old'));
  await world.listener();
  const id = await mailbox();
  await idles();
  server.deliver(mail('Order 1'));
  const [first] = await world.startedOf(id, 1);
  expect(first).toMatchObject({
    subject: 'Order 1',
    from: { name: 'Ada', address: 'ada@example.com' },
    to: [{ name: '', address: 'orders@tea.example.com' }],
    text: 'Two tins, please.\n',
    ...{ html: null, attachments: [], error: null, is_truncated: false },
  });
  await expect.poll(seen, PATIENCE).toBe(1);
  await idles();
  server.deliver(mail('Order 2'));
  await world.startedOf(id, 2);
  await expect.poll(async () => (await world.stateOf(id)).unacknowledged, PATIENCE).toBe(null);
});

test('reads text in other encodings, HTML, and attachments as files of the execution', async () => {
  await world.listener();
  const id = await mailbox({ existing: 'start' });
  server.deliver(
    [
      'From: =?ISO-2022-JP?B?GyRCOzNFRBsoQg==?= <y@example.jp>',
      'Subject: =?UTF-8?B?6KuL5rGC5pu4?=',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from('<p>こんにちは</p>').toString('base64'),
      '--b',
      'Content-Type: application/pdf; name="=?UTF-8?B?6KuL5rGC5pu4LnBkZg==?="',
      'Content-Disposition: attachment',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from('%PDF-1.4').toString('base64'),
      '--b--',
      '',
    ].join('\n'),
  );
  const [data] = await world.startedOf(id, 1);
  expect(data).toMatchObject({
    subject: '請求書',
    from: { name: '山田' },
    html: expect.stringContaining('こんにちは'),
  });
  expect(data?.attachments).toMatchObject([{ name: '請求書.pdf', type: 'application/pdf', size: 8 }]);
  const [{ count } = { count: 0 }] = await world
    .db()
    .query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM execution_files f JOIN executions e ON e.id = f.execution_id WHERE e.workflow_id = $1`,
      [id],
    );
  expect(count).toBe(1);
});

test('moves mails, and does so for those of a connection that died in between', async () => {
  server.folders.set('Done', []);
  await world.listener();
  const id = await mailbox({ after: 'move', move_to: 'Done' });
  await idles();
  server.before = (command) => {
    if (command.startsWith('UID MOVE')) server.drop();
  };
  server.deliver(mail('Order 1'));
  await world.startedOf(id, 1);
  server.before = () => undefined;
  await expect.poll(() => server.mails('Done').length, PATIENCE).toBe(1);
  expect(server.mails()).toHaveLength(0);
  expect(await world.started(id)).toHaveLength(1);
});

test('looks at an interval where the server has no IDLE, and filters', async () => {
  server.capabilities = 'IMAP4rev1';
  server.deliver(mail('Order 1'));
  server.deliver(mail('Other'));
  server.deliver(mail('Order 2'), 'INBOX', ['\\Seen']);
  await world.listener();
  const id = await mailbox({ existing: 'start', subject_contains: 'Order', after: 'nothing' });
  expect(await world.startedOf(id, 1)).toMatchObject([{ subject: 'Order 1' }]);
  expect(server.commands).not.toContain('IDLE');
  expect(seen()).toBe(1);
});

test('a folder that was made anew is read again only where mails are marked', async () => {
  const listener = await world.listener();
  const [marking, leaving] = [await mailbox(), await mailbox({ after: 'nothing' })];
  await Promise.all([world.connected(marking), world.connected(leaving)]);
  await listener.stop();
  server.uidValidity = 2;
  server.deliver(mail('while nobody listened'));
  await world.listener();
  await world.startedOf(marking, 1);
  await world.connected(leaving);
  expect(await world.started(leaving)).toEqual([]);
});

test.each([
  ['imap_auth_failed', { password: 'canary-wrong' }, {}],
  ['imap_folder_failed', {}, { folder: 'Nowhere' }],
  ['imap_tls_failed', { security: 'starttls' }, {}],
])('says what is wrong: %s', async (code, wrong, config) => {
  credential = await world.credential('imap', { ...fields(), ...wrong });
  await world.listener();
  const id = await mailbox(config);
  await expect.poll(async () => (await world.stateOf(id)).code, PATIENCE).toBe(code);
  expect((await world.stateOf(id)).last_error).not.toContain('canary');
});
