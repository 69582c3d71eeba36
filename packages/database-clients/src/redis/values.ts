import { isUtf8 } from 'node:buffer';
import { type JsonValue, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { exactNumber } from '../sql/result.ts';
import { type RedisReply, RedisReplyError, type ReplyLimits } from './reply.ts';

/** Maximum bytes of what one node receives: anything larger wouldn't be a valid output either. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Of all that one node receives. `tooLarge` is `db_result_too_large`. */
export const ORDER_LIMITS: ReplyLimits = {
  ...{ bytes: MAX_BYTES, bytesOf: 'connection', listItems: 200_000, items: 200_000, depth: 16 },
  tooLarge: () => new ServiceError('db_result_too_large', message('ports.db_too_large', { max: MAX_BYTES })),
};

/** A reply as JSON: texts that aren't UTF-8 become `{ "base64": ... }`, integers are exact, an error in a list (of a script) stands as text. */
export function jsonOf(reply: RedisReply): JsonValue {
  if (reply === null) return null;
  if (Buffer.isBuffer(reply)) return isUtf8(reply) ? reply.toString() : { base64: reply.toString('base64') };
  if (typeof reply === 'string') return exactNumber(reply);
  if (reply instanceof RedisReplyError) return reply.message;
  return reply.map(jsonOf);
}
