import { failure, success } from '@millrace/engine';
import { message } from '@millrace/messages';
import { noCredential } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { findMailGaps, MAIL_CREDENTIALS, mailProperties } from '../mail/config.ts';
import { buildMessage, describeMessage } from '../mail/message.ts';
import { sendMail } from '../mail/server.ts';

const smtp = {
  type: 'smtp',
  host: 'smtp.example.com',
  port: 587,
  security: 'starttls',
  username: 'shop',
  password: 'your-password',
} as const;

export const emailSend = checkedNode({
  type: 'email.send',
  title: 'E-mail',
  description:
    'Sends an e-mail through an SMTP server. Its Message-ID stays the same across attempts, so repeats can be detected. The output lists the accepted recipients.',
  icon: 'mail',
  kind: 'effect',
  properties: mailProperties,
  required: ['credential_id', 'from', 'subject'],
  findGaps: findMailGaps,
  defaultTimeoutMs: 120_000,
  form: {
    main: ['credential_id', 'from', 'to', 'subject', 'text'],
    sections: [
      { title: 'HTML and attachments', fields: ['html', 'files', 'attachments'] },
      { title: 'Other recipients', fields: ['cc', 'bcc', 'reply_to'] },
      { title: 'Sign-in with OAuth 2.0', fields: ['mailbox', 'server'] },
    ],
  },
  synonyms: ['email', 'mail', 'smtp', 'gmail', 'outlook', 'send', 'notify', 'notification'],
  examples: [
    {
      title: 'Tell the office',
      config: {
        credential_id: 4,
        from: 'shop@example.com',
        to: ['office@example.com', 'Ada Lovelace <ada@example.com>'],
        subject: 'Order {{trigger.data.id}}',
        text: 'A new order has come in.',
      },
      trigger: { id: 17 },
      credential: smtp,
      expect: {
        output: {
          message_id: '<execution-1-node@example.com>',
          accepted: ['office@example.com', '"Ada Lovelace" <ada@example.com>'],
          rejected: [],
          response: '250 OK',
        },
      },
    },
    {
      title: 'An invoice',
      config: {
        credential_id: 4,
        from: 'Shop <shop@example.com>',
        to: '{{trigger.data.email}}',
        subject: 'Invoice {{trigger.data.id}}',
        text: 'Thank you. The invoice is attached.',
        attachments: [
          { filename: 'invoice.csv', content_type: 'text/csv', content: 'total\n{{trigger.data.total}}\n' },
        ],
      },
      trigger: { id: 17, email: 'ada@example.org', total: 42.5 },
      credential: smtp,
      expect: {
        output: {
          message_id: '<execution-1-node@example.com>',
          accepted: ['ada@example.org'],
          rejected: [],
          response: '250 OK',
        },
      },
    },
    {
      title: 'An invalid address',
      config: { credential_id: 4, from: 'shop@example.com', to: 'nobody', subject: 'Hello', text: 'Hello' },
      expect: { failure: { code: 'invalid_config' } },
    },
  ],
  async run(config, context) {
    if (config.credential_id === 0)
      return failure('invalid_config', noCredential('credential_id', MAIL_CREDENTIALS));
    const mail = await buildMessage(config, context.idempotencyKey, context);
    if (context.execution.isTestMode) return success({ dry_run: true, request: describeMessage(mail) });
    const { accepted, rejected, response } = await sendMail(config, mail, context);
    const output = {
      message_id: mail.messageId,
      accepted: [...accepted],
      rejected: [...rejected],
      response,
    };
    if (accepted.length > 0) return success(output);
    return failure('mail_rejected', message('nodes.no_recipient_accepted', { response }), { output });
  },
});
