import type { FileValue, JsonObject, JsonValue } from '@millrace/engine';
import { stringifyJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { DocumentFault } from '../documents/fault.ts';
import { type Host, UnservedError } from './host.ts';

/** Bytes of the text and of the HTML, each, that become part of the message. */
const MAX_TEXT_BYTES = 196_608;
const MAX_ATTACHMENTS = 50;
const MAX_ADDRESSES = 200;
const MAX_HEADER_BYTES = 262_144;
const MAX_DEPTH = 50;
const MAX_NAME = 998;

/**
 * Reads a mail (RFC 5322, MIME). Attachments become files, or are only named.
 * @returns JSON text
 * @throws DocumentFault invalid_data
 */
export async function readMail(host: Host, savesAttachments: boolean): Promise<string> {
  const mail = await parse(host);
  const attachments: JsonValue[] = [];
  for (const attachment of mail.attachments.slice(0, MAX_ATTACHMENTS)) {
    attachments.push(await (savesAttachments ? save(host, attachment) : nameOf(attachment)));
  }
  const text = cut(mail.text);
  const html = cut(mail.html);
  return stringifyJson({
    message_id: short(mail.messageId),
    in_reply_to: short(mail.inReplyTo),
    from: addresses(mail.from === undefined ? [] : [mail.from])[0] ?? null,
    to: addresses(mail.to),
    cc: addresses(mail.cc),
    reply_to: addresses(mail.replyTo),
    subject: short(mail.subject) ?? '',
    date: timeOf(mail.date),
    text: text.value,
    html: html.value,
    attachments,
    is_truncated: text.isCut || html.isCut || mail.attachments.length > MAX_ATTACHMENTS,
  } satisfies JsonObject);
}

async function parse(host: Host): Promise<Email> {
  const pieces: Uint8Array[] = [];
  for await (const piece of host.read(0)) pieces.push(piece);
  try {
    return await PostalMime.parse(Buffer.concat(pieces), {
      maxNestingDepth: MAX_DEPTH,
      maxHeadersSize: MAX_HEADER_BYTES,
      // A forwarded message stays what it is: a file.
      forceRfc822Attachments: true,
    });
  } catch (error) {
    if (error instanceof UnservedError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new DocumentFault(
      'invalid_data',
      message('ports.mail_unreadable', { reason: reason.slice(0, 200) }),
    );
  }
}

function save(host: Host, { filename, mimeType, content }: Attachment): Promise<FileValue> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield bytesOf(content);
  }
  return host.save({ name: filename ?? 'attachment', type: mimeType }, bytes());
}

function nameOf({ filename, mimeType, content }: Attachment): JsonObject {
  return { name: short(filename ?? 'attachment'), type: mimeType, size: bytesOf(content).byteLength };
}

function bytesOf(content: Attachment['content']): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof Uint8Array ? content : new Uint8Array(content);
}

function addresses(list: readonly Address[] = []): JsonValue[] {
  return list
    .flatMap((each) => each.group ?? [each])
    .slice(0, MAX_ADDRESSES)
    .map(({ name, address }) => ({ name: short(name) ?? '', address: short(address) ?? '' }));
}

function short(text: string | undefined): string | null {
  return text === undefined ? null : text.slice(0, MAX_NAME);
}

function timeOf(text: string | undefined): string | null {
  const at = new Date(text ?? '');
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

/** As much as there is room for, without half a character at the end. */
function cut(text: string | undefined): { readonly value: string | null; readonly isCut: boolean } {
  if (text === undefined) return { value: null, isCut: false };
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= MAX_TEXT_BYTES) return { value: text, isCut: false };
  const decoder = new TextDecoder();
  return { value: decoder.decode(bytes.subarray(0, MAX_TEXT_BYTES), { stream: true }), isCut: true };
}
