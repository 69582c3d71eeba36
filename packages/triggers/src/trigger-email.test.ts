import { type JsonObject, success } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { expect, test } from 'vitest';
import { faultsOf, sourceOf } from './listening/testing.ts';
import { triggerEmail } from './trigger-email.ts';

const MAILBOX = { credential_id: 3 };

test('reads unread mails of the inbox, and marks them as read, unless settings say otherwise', () => {
  expect(sourceOf(triggerEmail, MAILBOX)).toEqual({
    kind: 'imap',
    credentialId: 3,
    oauth: null,
    folder: 'INBOX',
    onlyUnseen: true,
    from: '',
    subject: '',
    after: 'seen',
    moveTo: '',
    attachments: true,
    existing: 'skip',
    intervalMs: 60_000,
  });
});

test('reads every setting, without spaces around texts', () => {
  const config = {
    ...{
      credential_id: 4,
      folder: ' INBOX/Orders ',
      only_unseen: false,
      from_contains: ' @shop.example.com',
    },
    ...{ subject_contains: 'Order ', after: 'move', move_to: ' Done ', attachments: false },
    ...{ existing: 'start', interval_s: 90, mailbox: ' orders@example.com ', server: 'imap.example.com' },
  };
  expect(sourceOf(triggerEmail, config)).toEqual({
    kind: 'imap',
    credentialId: 4,
    oauth: { mailbox: 'orders@example.com', host: 'imap.example.com', port: 993 },
    folder: 'INBOX/Orders',
    onlyUnseen: false,
    from: '@shop.example.com',
    subject: 'Order',
    after: 'move',
    moveTo: 'Done',
    attachments: false,
    existing: 'start',
    intervalMs: 90_000,
  });
});

test('begins afresh only with another mailbox or folder', () => {
  expect(triggerEmail.listening?.place).toEqual(['credential_id', 'folder', 'mailbox', 'server']);
});

test.each<[string, JsonObject, readonly string[]]>([
  ['nothing', {}, []],
  ['the longest times and names', { interval_s: 86_400, folder: 'x'.repeat(255) }, []],
  ['a folder that nothing is moved to', { move_to: '' }, []],
  ['no mailbox', { credential_id: 0 }, ['/credential_id', 'selects no credential']],
  ['no folder to move to', { after: 'move' }, ['/move_to', 'Enter the folder that they are moved to']],
  ['spaces as that folder', { after: 'move', move_to: ' ' }, ['/move_to', 'Enter the folder']],
  ['a mailbox without a server', { mailbox: 'a@example.com' }, ['/server', 'Enter both']],
  ['a server without a mailbox', { server: 'imap.example.com' }, ['/mailbox', 'Enter both']],
  ['an address as the server', { mailbox: 'a@x', server: 'https://x' }, ['/server', '']],
  ['spaces as the folder', { folder: ' ' }, ['/folder', 'is empty']],
  ['an empty folder', { folder: '' }, ['/folder', 'at least 1 character']],
  ['a long folder', { folder: 'x'.repeat(256) }, ['/folder', 'at most 255 characters']],
  ['a long text to look for', { subject_contains: 'x'.repeat(256) }, ['/subject_contains', 'at most 255']],
  ['looks in close succession', { interval_s: 29 }, ['/interval_s', 'must be 30 or more']],
  ['rare looks', { interval_s: 86_401 }, ['/interval_s', 'must be 86400 or less']],
  ['another end', { after: 'delete' }, ['/after', 'must be one of']],
])('finds in settings with %s', (_what, config, [pointer, text = '']) => {
  const expected = pointer === undefined ? [] : [[pointer, expect.stringContaining(text)]];
  expect(faultsOf(triggerEmail, { ...MAILBOX, ...config })).toEqual(expected);
});

test('refuses to listen with settings that do not match', () => {
  expect(() => sourceOf(triggerEmail, { ...MAILBOX, interval_s: 1 })).toThrow('config.interval_s');
});

test.each([false, true])('hands on the mail, in test mode: %s', async (isTestMode) => {
  const trigger = { subject: 'Order 4711', attachments: [{ $file: 'a', name: 'order.pdf' }], error: null };
  const { result, requests } = await runNode(triggerEmail, { config: MAILBOX, trigger, isTestMode });
  expect([result, requests]).toEqual([success({ data: trigger }), []]);
});
