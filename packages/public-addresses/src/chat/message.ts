import { type FileValue, isJsonObject, type JsonValue } from '@millrace/engine';
import type { Files } from '@millrace/files/files';
import type { ArrivingFile } from '@millrace/http/parts';
import { message } from '@millrace/messages';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import { type ChatOptions, isAccepted } from '@millrace/triggers';
import type { FastifyRequest } from 'fastify';
import { readWebhookBody } from '../webhooks/body.ts';
import { keeperOf } from '../webhooks/keep-files.ts';
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
 * A message with files, as multipart/form-data. Nothing is stored if any of them isn't taken.
 * @throws ChatRefusal; ApiError for a body that can't be read and for files that can't be stored
 */
export async function readMessageWithFiles(
  request: FastifyRequest,
  {
    config,
    files,
  }: { readonly config: { readonly limits: { readonly jsonDepth: number } }; readonly files: Files },
  workflow: StartableWorkflow,
  options: ChatOptions,
): Promise<SentMessage> {
  const { files_per_message: most, files_accept: accept, files_mb: mib } = options;
  if (most === 0) throw new ChatRefusal(422, message('chat.not_a_message'));
  const arrived: ArrivingFile[] = [];
  // Stored only once all are known to be wanted.
  const body = await readWebhookBody(request, 'files', config, async (file) => {
    arrived.push(file);
    return null;
  });
  request.rawBody = null;
  const sent = readMessage(body, options);
  if (arrived.length > most) throw new ChatRefusal(422, message('chat.too_many_files', { max: most }));
  const unfit = arrived.find((file) => !isAccepted(accept, file));
  if (unfit !== undefined)
    throw new ChatRefusal(422, message('chat.wrong_file', { name: unfit.name, accept }));
  if (arrived.reduce((sum, { declaredBytes }) => sum + (declaredBytes ?? 0), 0) > mib * MIB)
    throw new ChatRefusal(413, message('chat.files_too_large', { mib }));
  const kept: FileValue[] = [];
  const keep = keeperOf(files, workflow, kept);
  for (const file of arrived) await keep(file);
  return { ...sent, files: kept };
}
