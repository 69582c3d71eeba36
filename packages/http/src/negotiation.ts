import { ApiError } from '@millrace/errors/errors';
import { message, verbatim } from '@millrace/messages';
import type { FastifyRequest } from 'fastify';

const DEFAULT_TYPES = ['application/json'] as const;

/**
 * Refuses a request whose Accept header excludes every media type the route produces.
 * @throws ApiError `not_acceptable`
 */
export function refuseUnacceptable(request: FastifyRequest): void {
  const { accept } = request.headers;
  if (accept === undefined || accept.trim() === '' || request.routeOptions.config.sendsFile === true) return;
  const types = request.routeOptions.config.produces ?? DEFAULT_TYPES;
  if (types.some((type) => accepts(accept, type))) return;
  throw new ApiError('not_acceptable', message('api.not_acceptable', { types: types.map(verbatim) }));
}

/** Whether an Accept header (RFC 9110, 12.5.1) admits a media type; the most specific range decides. */
export function accepts(header: string, type: string): boolean {
  const [family = ''] = type.split('/');
  const qualities = new Map(header.split(',').map(parseRange));
  const quality = qualities.get(type) ?? qualities.get(`${family}/*`) ?? qualities.get('*/*') ?? 0;
  return quality > 0;
}

function parseRange(text: string): [range: string, quality: number] {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return [range, quality === undefined ? 1 : Number(quality.slice(2)) || 0];
}
