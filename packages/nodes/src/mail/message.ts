import { Buffer } from 'node:buffer';
import {
  fileIdOf,
  type JsonObject,
  type JsonValue,
  type MailMessage,
  type NodeContext,
  type OpenFile,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { openFiles } from '../files/open-files.ts';
import { bareAddress, readAddresses } from './addresses.ts';
import { MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS, type MailConfig } from './config.ts';

const MAX_RECIPIENTS = 500;
const CONTROL = /\p{Cc}/u;
const CONTENT_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(?:; ?charset=[a-z0-9_-]+)?$/i;

type Attachment = MailMessage['attachments'][number];

/**
 * Builds the message from the settings.
 * @param files the execution's files
 * @throws NodeProblem, ServiceError
 */
export async function buildMessage(
  config: MailConfig,
  idempotencyKey: string,
  context: Pick<NodeContext, 'files' | 'readWhole'>,
): Promise<MailMessage> {
  const envelope = readEnvelope(config, idempotencyKey);
  const opened = await openFiles(listOf(config.files), context.files);
  if (config.text === '' && config.html === '' && config.attachments.length + opened.length === 0) {
    throw new NodeProblem(message('nodes.empty_message'));
  }
  const given = attachmentsOf(config.attachments);
  requireRoom(given, opened);
  const attached: Attachment[] = [];
  for (const file of opened) {
    const bytes = await context.readWhole(file);
    const content = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    attached.push({ filename: file.name, contentType: file.type, content });
  }
  return { ...envelope, attachments: [...given, ...attached] };
}

function readEnvelope(config: MailConfig, idempotencyKey: string): Omit<MailMessage, 'attachments'> {
  const from = only(readAddresses('config.from', config.from), 'config.from');
  const [to, cc, bcc] = [
    readAddresses('config.to', config.to),
    readAddresses('config.cc', config.cc),
    readAddresses('config.bcc', config.bcc),
  ];
  const count = to.length + cc.length + bcc.length;
  if (count === 0) throw new NodeProblem(message('nodes.no_recipient'));
  if (count > MAX_RECIPIENTS) {
    throw new NodeProblem(message('nodes.too_many_recipients', { recipients: count, max: MAX_RECIPIENTS }));
  }
  const replyTo = readAddresses('config.reply_to', config.reply_to);
  const key = keyText(idempotencyKey);
  return {
    from,
    to,
    cc,
    bcc,
    replyTo: replyTo.length === 0 ? null : only(replyTo, 'config.reply_to'),
    subject: singleLine('config.subject', config.subject),
    text: config.text === '' ? null : config.text,
    html: config.html === '' ? null : config.html,
    headers: { 'Idempotency-Key': key },
    // Under the sender's own domain, as in RFC 5322, 3.6.4.
    messageId: `<${key}@${bareAddress(from).split('@').at(-1) ?? 'localhost'}>`,
  };
}

/** Shown in test mode instead of sending, attachments in base64. */
export function describeMessage(message: MailMessage): JsonObject {
  const { from, to, cc, bcc, replyTo, subject, text, html, headers, attachments, messageId } = message;
  return {
    message_id: messageId,
    from,
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    reply_to: replyTo,
    subject,
    text,
    html,
    headers: { ...headers },
    attachments: attachments.map(({ filename, contentType, content }) => ({
      filename,
      content_type: contentType,
      bytes: content.byteLength,
      base64: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64'),
    })),
  };
}

function only(addresses: readonly string[], setting: string): string {
  const [address, ...others] = addresses;
  if (address === undefined || others.length > 0)
    throw new NodeProblem(message('nodes.not_one_address', { setting }));
  return address;
}

function singleLine(setting: string, text: string): string {
  if (!CONTROL.test(text)) return text;
  throw new NodeProblem(message('nodes.not_one_line', { setting }));
}

/** The key in characters allowed in a header and the left side of a Message-ID; different keys stay different. */
function keyText(key: string): string {
  return encodeURIComponent(key).replace(
    /[!'()*~]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** One file stands for a list of one; nothing for none. */
function listOf(value: JsonValue): JsonValue {
  if (value === null || value === '') return [];
  return fileIdOf(value) === undefined ? value : [value];
}

/** By what the files' rows say, before any of them is read. */
function requireRoom(given: readonly Attachment[], files: readonly OpenFile[]): void {
  if (given.length + files.length > MAX_ATTACHMENTS) {
    throw new NodeProblem(message('nodes.too_many_files', { setting: 'files', max: MAX_ATTACHMENTS }));
  }
  const bytes =
    given.reduce((sum, { content }) => sum + content.byteLength, 0) +
    files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MAX_ATTACHMENT_BYTES) {
    throw new NodeProblem(message('nodes.attachments_too_large', { max: MAX_ATTACHMENT_BYTES }));
  }
}

function attachmentsOf(attachments: MailConfig['attachments']): Attachment[] {
  return attachments.map((attachment, index) => {
    const where = `config.attachments.${index}`;
    const { filename, content_type: contentType = 'application/octet-stream' } = attachment;
    if (filename === '') throw new NodeProblem(message('nodes.no_filename', { where }));
    singleLine(`${where}.filename`, filename);
    if (!CONTENT_TYPE.test(contentType)) {
      throw new NodeProblem(message('nodes.wrong_content_type', { where }));
    }
    return { filename, contentType, content: contentOf(where, attachment) };
  });
}

function contentOf(
  where: string,
  { content = '', base64 = '' }: { content?: string; base64?: string },
): Uint8Array {
  if (content !== '' && base64 !== '') throw new NodeProblem(message('nodes.content_and_base64', { where }));
  if (base64 === '') return new TextEncoder().encode(content);
  const text = base64.replace(/\s+/g, '');
  if (!isBase64(text)) throw new NodeProblem(message('nodes.not_base64', { where }));
  return new Uint8Array(Buffer.from(text, 'base64'));
}

/** RFC 4648, 4, with padding. Avoids a pattern over the whole string: it may have millions of characters. */
function isBase64(text: string): boolean {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.slice(0, text.length - padding));
}
