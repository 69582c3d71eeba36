import type { ConfigFault, JsonObject, JsonValue } from '@millrace/engine';
import { message } from '@millrace/messages';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { isBlank } from '@millrace/node-kit/values';
import { type Static, Type } from 'typebox';

/** Total bytes of all attachments. Most servers refuse more, too. */
export const MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024;
export const MAX_ATTACHMENTS = 50;

const addresses = (title: string, description: string) =>
  Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 500 })], {
    title,
    description,
    default: [],
  });
const text = (title: string, description: string, marks: { readonly 'x-filled'?: true } = {}) =>
  Type.String({ title, description, default: '', ...marks });
const FILLED = { 'x-filled': true } as const;

const attachmentSchema = Type.Object(
  {
    filename: text('File name', 'As shown to the recipient.', FILLED),
    content_type: Type.Optional(
      Type.String({
        title: 'Type',
        description: 'Such as text/csv or application/pdf.',
        default: 'application/octet-stream',
      }),
    ),
    content: Type.Optional(text('Text', 'The content of a text file.')),
    base64: Type.Optional(text('Base64', 'The content of a binary file.')),
  },
  { additionalProperties: false },
);

export const MAIL_CREDENTIALS = ['smtp', 'oauth2'] as const;

/** The settings of email.send, as the editor shows them. */
export const mailProperties = {
  credential_id: credentialProperty(
    MAIL_CREDENTIALS,
    'Credential',
    'The SMTP server to send through, or an OAuth 2.0 credential that may send mails.',
  ),
  from: text('From', 'An address, or a name and an address: Shop <shop@example.com>.', FILLED),
  to: addresses('To', 'A list of addresses, or text separated by commas.'),
  cc: addresses('Cc', 'Copies, visible to all recipients.'),
  bcc: addresses('Bcc', 'Copies, hidden from the other recipients.'),
  reply_to: text('Reply to', 'Where replies go, if not to the sender.'),
  mailbox: Type.String({
    title: 'Mailbox',
    description:
      'With an OAuth 2.0 credential: the e-mail address that mails are sent with. Otherwise empty.',
    default: '',
    maxLength: 255,
  }),
  server: Type.String({
    title: 'Server',
    description:
      'With an OAuth 2.0 credential: the SMTP server, to which its tokens are sent, encrypted (port 587, or 465 as in smtp.example.com:465). The credential must be bound to it.',
    default: '',
    maxLength: 255,
    'x-placeholder': 'smtp.gmail.com',
  }),
  subject: text('Subject', 'A single line.', FILLED),
  text: Type.String({
    title: 'Text',
    description: 'The message as plain text.',
    default: '',
    'x-multiline': true,
  }),
  html: Type.String({
    title: 'HTML',
    description: 'The message as HTML. Template values are inserted unescaped.',
    default: '',
    'x-multiline': true,
  }),
  attachments: Type.Array(attachmentSchema, {
    title: 'Attachments',
    description: 'Files, each with content or base64. At most 10 MiB in total.',
    default: [],
    maxItems: MAX_ATTACHMENTS,
  }),
  files: Type.Unsafe<JsonValue>({
    title: 'Files',
    description:
      'A file or a list of files to attach, such as {{nodes.write.output.file}}. They count towards the 10 MiB.',
    default: [],
  }),
};

/** The recipients can be in any of several settings, and so can the content. */
export function findMailGaps(config: JsonObject): readonly ConfigFault[] {
  const isGiven = (name: string): boolean => !isBlank(config[name] ?? null);
  return [
    ...(['to', 'cc', 'bcc'].some(isGiven)
      ? []
      : [{ pointer: '/to', message: message('nodes.no_recipients') }]),
    ...(['text', 'html', 'attachments', 'files'].some(isGiven)
      ? []
      : [{ pointer: '/text', message: message('nodes.no_mail_content') }]),
  ];
}

export type MailConfig = Static<ReturnType<typeof Type.Object<typeof mailProperties>>>;
