import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { OpenSecret } from '@millrace/service/webhooks/secrets';
import type { ChallengeAnswer } from '@millrace/triggers';
import type { FastifyReply } from 'fastify';
import type { Guard } from './guard.ts';
import { sandbox } from './respond.ts';

/**
 * Answers a challenge. What is repeated of the call is plain text, which no browser runs.
 * @throws ApiError `invalid_signature` if its token is wrong, or the secret can't be used
 */
export async function sendChallenge(
  reply: FastifyReply,
  answer: ChallengeAnswer,
  { signature, challenge }: Guard,
  open: (credentialId: number) => ReturnType<OpenSecret>,
): Promise<FastifyReply> {
  sandbox(reply);
  switch (answer.kind) {
    case 'text':
      return sendText(reply, answer.text);
    case 'json':
      return reply.code(200).send(answer.body);
    case 'if_token': {
      const secret = await opened(open, challenge?.credential_id ?? 0);
      if (!isSame(answer.token, secret)) throw refusal(message('service.token_wrong'));
      return sendText(reply, answer.text);
    }
    case 'signed': {
      const secret = await opened(open, signature?.credential_id ?? 0);
      const encryptedToken = createHmac('sha256', secret).update(answer.text).digest('hex');
      return reply.code(200).send({ plainToken: answer.text, encryptedToken });
    }
  }
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.code(200).header('content-type', 'text/plain; charset=utf-8').send(Buffer.from(text));
}

async function opened(
  open: (credentialId: number) => ReturnType<OpenSecret>,
  credentialId: number,
): Promise<string> {
  try {
    return await open(credentialId);
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause;
    throw new ApiError('invalid_signature', message('api.webhook_secret_unusable'), { cause });
  }
}

function refusal(explanation: ReturnType<typeof message>): ApiError {
  return new ApiError('invalid_signature', explanation, { headers: { 'www-authenticate': 'Signature' } });
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
