import type { JsonValue } from '@millrace/engine';
import type { KeptFiles } from '@millrace/http/keep-files';
import type { ArrivingFile } from '@millrace/http/parts';
import type { FastifyRequest } from 'fastify';
import type { AddressDeps } from '../deps.ts';
import { readArriving, refuseUnread, unreadBody } from './arriving.ts';
import { readWebhookBody } from './body.ts';
import type { Guard } from './guard.ts';

/** A call's body as JSON, or why it isn't. */
export type EarlyBody = { readonly value: JsonValue } | { readonly error: unknown };

/** Reads the body before it is known which webhook is called; what may be a file is left unread. */
export async function readEarly(
  request: FastifyRequest,
  settings: AddressDeps['config'],
): Promise<EarlyBody> {
  try {
    refuseUnread(request);
    return { value: await readWebhookBody(request, 'json', settings) };
  } catch (error) {
    return { error };
  }
}

/** The data of a call, as the webhook's settings say to read its body. */
export async function readData(
  request: FastifyRequest,
  { body: mode }: Guard,
  early: EarlyBody,
  kept: KeptFiles,
  settings: AddressDeps['config'],
): Promise<JsonValue> {
  if (mode === 'json' && 'value' in early) return early.value;
  const keepFile = mode === 'files' ? (file: ArrivingFile) => kept.keep(file) : null;
  const arriving = unreadBody(request);
  if (arriving !== null && keepFile !== null) return readArriving(request, arriving, keepFile);
  return readWebhookBody(request, mode, settings, keepFile);
}
