import { type FileValue, isJsonObject, type JsonValue } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import type { KeptFiles } from '@millrace/http/keep-files';
import { isMultipart, typeOf } from '@millrace/http/media-type';
import { message } from '@millrace/messages';
import { type ChatOptions, isAccepted } from '@millrace/triggers';
import type { FastifyRequest } from 'fastify';
import { readArriving, unreadBody } from '../webhooks/arriving.ts';
import { ChatRefusal } from './refusal.ts';

const MESSAGE_ID = /^[A-Za-z0-9_-]{16,64}$/;
export const MIB = 1024 * 1024;

/** What a visitor sends. */
export interface SentMessage {
  readonly messageId: string;
  readonly text: string;
  readonly files: readonly FileValue[];
}

/** @throws ChatRefusal for what no page sends, and for a text that is empty or too long */
export function readMessage(body: JsonValue, { message_chars: max }: ChatOptions): SentMessage {
  const { message_id: messageId, message: given } = isJsonObject(body) ? body : {};
  if (typeof messageId !== 'string' || !MESSAGE_ID.test(messageId) || typeof given !== 'string')
    throw new ChatRefusal(422, message('chat.not_a_message'));
  // Neither can be stored.
  const text = given.replaceAll('\0', '').toWellFormed().replaceAll('\r\n', '\n').trim();
  if (text === '') throw new ChatRefusal(422, message('chat.empty'));
  if (text.length > max) throw new ChatRefusal(422, message('chat.too_long', { max }));
  return { messageId, text, files: [] };
}

/**
 * A message with files, as multipart/form-data. They are stored while they arrive, as long as all of them are wanted.
 * @throws ChatRefusal; ApiError for a body that can't be read and for files that can't be stored
 */
export async function readMessageWithFiles(
  request: FastifyRequest,
  kept: KeptFiles,
  options: ChatOptions,
): Promise<SentMessage> {
  const { files_per_message: most, files_accept: accept, files_mb: mib } = options;
  const arriving = unreadBody(request);
  if (most === 0 || arriving === null || !isMultipart(typeOf(request.headers['content-type'])))
    throw new ChatRefusal(422, message('chat.not_a_message'));
  let room = mib * MIB;
  const body = await readArriving(request, arriving, async (file) => {
    if (kept.values.length === most)
      throw new ChatRefusal(422, message('chat.too_many_files', { max: most }));
    if (!isAccepted(accept, file))
      throw new ChatRefusal(422, message('chat.wrong_file', { name: file.name, accept }));
    const { size } = await kept.keep(file, room).catch((error: unknown) => {
      const isTooLarge = error instanceof ApiError && error.code === 'file_too_large';
      throw isTooLarge ? new ChatRefusal(413, message('chat.files_too_large', { mib })) : error;
    });
    room -= size;
    return null;
  });
  return { ...readMessage(body, options), files: kept.values };
}
