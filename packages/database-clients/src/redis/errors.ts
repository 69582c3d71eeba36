import { ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { RedisReplyError } from './reply.ts';

/** First words of errors that end by themselves. */
const PASSING = [
  'LOADING',
  'BUSY',
  'MASTERDOWN',
  'READONLY',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'NOREPLICAS',
  'UNKILLABLE',
];
const DENIED = ['NOAUTH', 'WRONGPASS', 'NOPERM', 'DENIED'];
const ELSEWHERE = ['MOVED', 'ASK', 'CROSSSLOT'];

/** What the server said, for a workflow's author. */
export function refusal({ message: text }: Pick<RedisReplyError, 'message'>, where: string): ServiceError {
  const word = /^[A-Z]+/.exec(text)?.[0] ?? '';
  if (DENIED.includes(word) || /invalid password|without any password|AUTH/.test(text)) {
    return new ServiceError('db_auth_failed', message('ports.redis_auth', { host: where, said: text }));
  }
  if (PASSING.includes(word) || /max number of clients/.test(text)) {
    return new ServiceError(
      'db_unavailable',
      message('ports.cannot_run_now', { host: where, reason: text }),
      {
        retryable: true,
      },
    );
  }
  if (ELSEWHERE.includes(word)) {
    return new ServiceError('db_error', message('ports.redis_cluster', { said: text }));
  }
  return new ServiceError('db_error', message('ports.redis_error', { said: text }));
}
