import type { CredentialTest } from '@millrace/admin-api';
import type { Egress } from '@millrace/egress/egress';
import {
  type CredentialOf,
  type CredentialType,
  failure,
  finishWork,
  HttpClientError,
  ServiceError,
} from '@millrace/engine';
import type { Message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { maskSecrets } from '@millrace/runtime/mask';

/** The result of testing a credential; its duration is measured elsewhere. */
export type TestResult = Omit<CredentialTest, 'duration_ms' | 'refusal'> & {
  readonly refusal: Message | null;
};

/** The input of one kind of test. */
export interface Attempt<Type extends CredentialType> {
  readonly credential: CredentialOf<Type>;
  readonly organisationId: number;
  readonly egress: Egress;
  /** Aborted on timeout. */
  readonly signal: AbortSignal;
}

/** The credential works. @param code `accepted`, `connected` or `readable` */
export function works(code: string, where: string | null, status: number | null = null): TestResult {
  return { outcome: 'works', code, where, status, refusal: null };
}

/** Nothing is wrong, but nothing is proved either. */
export function inconclusive(code: string, where: string, status: number | null = null): TestResult {
  return { outcome: 'unsure', code, where, status, refusal: null };
}

/** @param refusal in the words of the refusing side */
export function failed(
  code: string,
  where: string | null,
  refusal: Message | null = null,
  status: number | null = null,
): TestResult {
  return { outcome: 'failed', code, where, status, refusal };
}

/**
 * What an error of the services means for the credential.
 * @throws the error itself if it isn't one of theirs: a defect must not look like a wrong credential
 */
export function failedBy(error: unknown, where: string | null): TestResult {
  const isTheirs =
    error instanceof ServiceError || error instanceof HttpClientError || error instanceof NodeProblem;
  if (!isTheirs) throw error;
  // What nodes report as invalid configuration can only be the credential's fault here.
  const code = error.code === 'invalid_config' ? 'invalid_credential' : error.code;
  return failed(code, where, error.explanation);
}

/** A URL that is safe to show: without its query, which may grant access. */
export function shownUrl(text: string): string {
  const url = new URL(text);
  return `${url.origin}${url.pathname}`;
}

/** A message without the secrets that the other side may repeat. */
export function maskMessage(said: Message, secrets: ReadonlySet<string>): Message {
  const masked = finishWork(maskSecrets(failure('tested', said), secrets));
  return 'message' in masked ? masked.message : said;
}
