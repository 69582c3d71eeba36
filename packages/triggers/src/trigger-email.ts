import { type JsonValue, success } from '@millrace/engine';
import { message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';
import { existingProperty, secondsToMs } from './listening/config.ts';

const MAIL = {
  uid: 17,
  received_at: '2026-01-02T09:00:00.000Z',
  size: 2048,
  message_id: '<17@tea.example.com>',
  in_reply_to: null,
  from: { name: 'Ada', address: 'ada@example.com' },
  to: [{ name: '', address: 'orders@tea.example.com' }],
  cc: [],
  reply_to: [],
  subject: 'Order 4711',
  date: '2026-01-02T08:59:58.000Z',
  text: 'Two tins of Sencha, please.',
  html: null,
  attachments: [],
  is_truncated: false,
  error: null,
};

export const triggerEmail = checkedNode({
  type: 'trigger.email',
  title: 'New email',
  description:
    'Waits for mails in a folder of a mailbox (IMAP) and starts one execution for each. trigger.data has from, to, cc, reply_to, subject, date, text, html and attachments. Attachments are files that other nodes can use.',
  icon: 'mail',
  kind: 'trigger',
  properties: {
    credential_id: credentialProperty(
      ['imap', 'oauth2'],
      'Credential',
      'The mailbox, or an OAuth 2.0 credential that may read it.',
    ),
    folder: Type.String({
      title: 'Folder',
      description: "Its name, with the server's separator, such as INBOX/Invoices.",
      minLength: 1,
      maxLength: 255,
      default: 'INBOX',
      'x-placeholder': 'INBOX',
    }),
    only_unseen: Type.Boolean({
      title: 'Only unread mails',
      description: 'Mails that are already marked as read start nothing.',
      default: true,
    }),
    from_contains: Type.String({
      title: 'From contains',
      description: 'Only mails whose sender contains this text, in upper or lower case. Empty: any.',
      maxLength: 255,
      default: '',
      'x-placeholder': '@example.com',
    }),
    subject_contains: Type.String({
      title: 'Subject contains',
      description: 'Only mails whose subject contains this text, in upper or lower case. Empty: any.',
      maxLength: 255,
      default: '',
      'x-placeholder': 'Invoice',
    }),
    after: choice(
      'Afterwards',
      'What happens to a mail once its execution is stored.',
      { seen: 'Mark as read', move: 'Move to a folder', nothing: 'Leave it as it is' },
      { default: 'seen' },
    ),
    move_to: Type.String({
      title: 'Move to',
      description: 'The folder to move mails to. It must exist.',
      maxLength: 255,
      default: '',
      'x-placeholder': 'Processed',
      'x-when': { after: ['move'] },
    }),
    attachments: Type.Boolean({
      title: 'Keep attachments',
      description:
        "As files, which count against the organisation's storage. Otherwise, only their names are kept.",
      default: true,
    }),
    existing: existingProperty(
      'Mails that are already there',
      'What happens to mails already in the folder when the workflow is activated, or after its mailbox or folder has changed.',
    ),
    mailbox: Type.String({
      title: 'Mailbox',
      description: 'With an OAuth 2.0 credential: the e-mail address whose mailbox is read. Otherwise empty.',
      maxLength: 255,
      default: '',
      'x-placeholder': 'orders@example.com',
    }),
    server: Type.String({
      title: 'Server',
      description:
        'With an OAuth 2.0 credential: the IMAP server, to which its tokens are sent, encrypted. The credential must be bound to it.',
      pattern: '^([A-Za-z0-9._-]+(:[0-9]{1,5})?)?$',
      maxLength: 255,
      default: '',
      'x-placeholder': 'imap.gmail.com',
    }),
    interval_s: Type.Integer({
      title: 'Interval',
      description: 'Seconds between checks of servers that do not report new mails by themselves (IDLE).',
      minimum: 30,
      maximum: 86_400,
      default: 60,
    }),
  },
  findGaps: ({ folder, after, move_to: moveTo = '', mailbox = '', server = '' }) => [
    ...(isBlank(mailbox) === isBlank(server)
      ? []
      : [
          {
            pointer: isBlank(mailbox) ? '/mailbox' : '/server',
            message: message('nodes.mailbox_and_server'),
          },
        ]),
    ...(isBlank(folder) ? [{ pointer: '/folder', message: message('flow.no_value') }] : []),
    ...(after === 'move' && isBlank(moveTo)
      ? [{ pointer: '/move_to', message: message('nodes.move_to_empty') }]
      : []),
  ],
  form: {
    main: ['credential_id', 'folder', 'only_unseen', 'after', 'move_to', 'attachments'],
    sections: [
      { title: 'Filter', fields: ['from_contains', 'subject_contains'] },
      { title: 'Sign-in with OAuth 2.0', fields: ['mailbox', 'server'] },
      { title: 'Start', fields: ['existing', 'interval_s'] },
    ],
  },
  synonyms: ['email', 'mail', 'imap', 'inbox', 'gmail', 'outlook', 'incoming mail', 'receive', 'attachment'],
  examples: [
    {
      title: 'Each new order that arrives by mail',
      config: { credential_id: 3, subject_contains: 'Order' },
      trigger: MAIL,
      expect: { output: { data: MAIL } },
    },
  ],
  listening: {
    place: ['credential_id', 'folder', 'mailbox', 'server'],
    source: (config) => ({
      kind: 'imap',
      credentialId: config.credential_id,
      oauth: oauthOf(config.mailbox.trim(), config.server.trim()),
      folder: config.folder.trim(),
      onlyUnseen: config.only_unseen,
      from: config.from_contains.trim(),
      subject: config.subject_contains.trim(),
      after: config.after,
      moveTo: config.move_to.trim(),
      attachments: config.attachments,
      existing: config.existing,
      intervalMs: secondsToMs(config.interval_s),
    }),
  },
  run: (_config, context) => success({ data: context.triggerData }),
});

const IMAP_PORT = 993;

/** Of an `oauth2` credential, which knows neither. */
function oauthOf(mailbox: string, server: string) {
  if (mailbox === '') return null;
  const [host = '', port] = server.split(':');
  return { mailbox, host, port: port === undefined ? IMAP_PORT : Number(port) };
}

/** Whether it is a text of which nothing is left without spaces. */
function isBlank(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value.trim() === '';
}
