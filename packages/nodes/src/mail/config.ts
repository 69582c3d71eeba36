import type { ConfigFault, JsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import { type Static, Type } from 'typebox';
import { credentialProperty } from '../credential-property.ts';
import { isBlank } from '../values.ts';

/** Bytes of all attachments together. What is larger is refused by most servers, too. */
export const MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024;

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
    filename: text('File name', 'As the receiver sees it.', FILLED),
    content_type: Type.Optional(
      Type.String({
        title: 'Type',
        description: 'Such as text/csv or application/pdf.',
        default: 'application/octet-stream',
      }),
    ),
    content: Type.Optional(text('Text', 'The content when it is text.')),
    base64: Type.Optional(text('Base64', 'The content when it is binary.')),
  },
  { additionalProperties: false },
);

/** The settings of email.send, as an editor shows them. */
export const mailProperties = {
  credential_id: credentialProperty(['smtp'], 'Credential', 'The SMTP server that the message is handed to.'),
  from: text('From', 'An address, or a name and an address: Shop <shop@example.com>.', FILLED),
  to: addresses('To', 'A list of addresses, or text with commas.'),
  cc: addresses('Cc', 'Copies, seen by all.'),
  bcc: addresses('Bcc', 'Copies that the others do not see.'),
  reply_to: text('Reply to', 'Where answers go, when not to the sender.'),
  subject: text('Subject', 'One line.', FILLED),
  text: Type.String({
    title: 'Text',
    description: 'The message as plain text.',
    default: '',
    'x-multiline': true,
  }),
  html: Type.String({
    title: 'HTML',
    description: 'The message as HTML. Values in templates are put in as they are.',
    default: '',
    'x-multiline': true,
  }),
  attachments: Type.Array(attachmentSchema, {
    title: 'Attachments',
    description: 'Files, each with content or base64; 10 MiB together.',
    default: [],
    maxItems: 50,
  }),
};

/** Who a message goes to and what it says is given in one of several settings each. */
export function findMailGaps(config: JsonObject): readonly ConfigFault[] {
  const isGiven = (name: string): boolean => !isBlank(config[name] ?? null);
  return [
    ...(['to', 'cc', 'bcc'].some(isGiven)
      ? []
      : [{ pointer: '/to', message: message('nodes.no_recipients') }]),
    ...(['text', 'html', 'attachments'].some(isGiven)
      ? []
      : [{ pointer: '/text', message: message('nodes.no_mail_content') }]),
  ];
}

export type MailConfig = Static<ReturnType<typeof Type.Object<typeof mailProperties>>>;
