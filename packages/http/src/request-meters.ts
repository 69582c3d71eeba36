import type { ApiError } from '@millrace/errors/errors';
import type { MessageKey } from '@millrace/messages';
import type { Meters, RequestKind } from '@millrace/runtime/meters/meters';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isStream } from './stream.ts';

/** What `overloaded` means, by the sentence it was explained with. */
const OVERLOADS: { readonly [key in MessageKey]?: string } = {
  'api.overloaded': 'overloaded_process',
  'api.bodies_too_large': 'overloaded_bodies',
  'service.service_queue_full': 'overloaded_queue',
};

/** Counts a request that was refused because there is too much, or because something is away. */
export function countRefusal({ refused }: Meters, { code, status, explanation }: ApiError): void {
  if (status !== 429 && status !== 503) return;
  refused.add(code === 'overloaded' ? (OVERLOADS[explanation.key] ?? code) : code);
}

/** Counts a response. Streams and long polls aren't counted: how long they take is the client's choice. */
export function countRequest(meters: Meters, request: FastifyRequest, reply: FastifyReply): void {
  const { config } = request.routeOptions;
  if (isStream(config.produces) || waits(request.query)) return;
  meters.requestEnded(kindOf(config), reply.elapsedTime / 1000);
}

function waits(query: unknown): boolean {
  return typeof query === 'object' && query !== null && 'wait' in query;
}

function kindOf(config: FastifyRequest['routeOptions']['config']): RequestKind {
  if (config.webhook === true) return 'webhook';
  if (config.callback === true) return 'callback';
  if (config.admin !== undefined) return 'admin';
  if (config.scope === undefined) return 'other';
  return config.scope === 'executions:execute' && config.idempotent !== undefined ? 'start' : 'public';
}
