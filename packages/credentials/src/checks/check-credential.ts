import type { CredentialTest } from '@millrace/admin-api';
import type { Database } from '@millrace/database/database';
import { createMongoService } from '@millrace/database-clients/mongodb';
import { createSqlService } from '@millrace/database-clients/sql';
import type { Egress } from '@millrace/egress/egress';
import type { CredentialService, CredentialType, HttpCredential, MongoOrder } from '@millrace/engine';
import { notFound, validationError } from '@millrace/errors/errors';
import { type AuditActor, insertAudit } from '@millrace/identity/audit/store';
import { signIn } from '@millrace/listening/sign-in';
import { type Message, message, verbatim } from '@millrace/messages';
import { inEnglish, presentMessage } from '@millrace/messages/english';
import { signInToMailServer } from '@millrace/ports/mail';
import type { SecretKeys } from '@millrace/secrets/keys';
import type { Logger } from 'pino';
import { modelsUrl } from '../model-list.ts';
import { BOUND_TYPES } from '../schema.ts';
import { createCredentialService } from '../service.ts';
import { type CredentialRow, findCredential } from '../store.ts';
import { testAi } from './ai.ts';
import { testChat } from './chat.ts';
import { statusClient, testHttp } from './http.ts';
import { type Attempt, failed, failedBy, maskMessage, shownUrl, type TestResult, works } from './result.ts';

export interface TestDeps {
  readonly db: Database;
  readonly keys: SecretKeys;
  readonly log: Logger;
  readonly egress: Egress;
  /** Default: 15 seconds, as a person is waiting. */
  readonly timeLimitMs?: number;
}

/** What is tested, for whom and from where. */
export interface TestRequest {
  readonly organisationId: number;
  readonly credentialId: number;
  /** For types bound to hosts: a page that requires the credential. */
  readonly url: string | undefined;
  readonly by: AuditActor;
}

const TIME_LIMIT_MS = 15_000;

/**
 * Tests a stored credential the way a node would use it, with an operation that costs and changes nothing, and records the
 * result. A node's rules apply: the hosts it is bound to, those the service blocks, those the organisation allows.
 * @throws ApiError `not_found`, 422 for the URL
 */
export async function testCredential(deps: TestDeps, request: TestRequest): Promise<CredentialTest> {
  const { organisationId, credentialId } = request;
  const row = await deps.db.forOrganisation(organisationId, (tx) =>
    findCredential(tx, organisationId, credentialId),
  );
  if (row === undefined) throw notFound('credential');
  const url = checkUrl(row, request.url);
  const secrets = new Set<string>();
  const startedAt = performance.now();
  const result = maskResult(await run(deps, row, url, secrets), secrets);
  const { outcome, code, where } = result;
  await insertAudit(deps.db, {
    organisationId,
    action: 'credential.tested',
    by: request.by,
    details: { credential_id: row.id, name: row.name, type: row.type, outcome, code, where },
  });
  const { refusal, ...rest } = result;
  return {
    ...rest,
    refusal: refusal === null ? null : presentMessage(refusal),
    duration_ms: Math.round(performance.now() - startedAt),
  };
}

async function run(
  { db, keys, log, egress, timeLimitMs = TIME_LIMIT_MS }: TestDeps,
  row: CredentialRow,
  url: string | null,
  secrets: Set<string>,
): Promise<TestResult> {
  const { organisation_id: organisationId } = row;
  const caller = { organisationId, onSecret: (secret: string) => void secrets.add(secret) };
  // The last use shown is the workflows', so a test doesn't count.
  const http = statusClient(egress, organisationId);
  const credentials = createCredentialService({ db, keys, log, egress, notesUse: false })(caller, { http });
  const signal = AbortSignal.timeout(timeLimitMs);
  const where = url === null ? placeOf(row) : shownUrl(url);
  try {
    return await tryType(row, url, credentials, { organisationId, egress, signal });
  } catch (error) {
    if (!signal.aborted) return failedBy(error, where);
    const host = where ?? message('egress.other_side');
    const seconds = timeLimitMs / 1_000;
    return failed('timeout', where, message('ports.no_response', { host, seconds }));
  }
}

async function tryType(
  { id, type, settings }: CredentialRow,
  url: string | null,
  credentials: CredentialService,
  attempt: Omit<Attempt<CredentialType>, 'credential'>,
): Promise<TestResult> {
  const open = <Type extends CredentialType>(...types: readonly Type[]) =>
    credentials.open(id, { types, ...(url === null ? {} : { url }) });
  const { egress, organisationId, signal } = attempt;
  if (isHttpType(type)) {
    return testHttp((request) => credentials.authenticate(id, request), attempt, url ?? '');
  }
  switch (type) {
    case 'secret':
      await open('secret');
      return works('readable', null);
    case 'smtp': {
      const credential = await open('smtp');
      await signInToMailServer(egress.sockets(organisationId), credential, signal);
      return works(credential.username === null ? 'connected' : 'accepted', hostOf(settings));
    }
    case 'imap':
    case 'redis':
    case 'mqtt':
    case 'kafka': {
      const credential = await open(type);
      const ways = { sockets: egress.sockets(organisationId), fetch: egress.fetch(organisationId) };
      await signIn(ways, credential, signal);
      return works(credential.password === null ? 'connected' : 'accepted', hostOf(settings));
    }
    case 'sql': {
      const credential = await open('sql');
      if (credential.dialect === 'mongodb') {
        await createMongoService({ sockets: egress.sockets })({ organisationId }).run(
          credential,
          NOTHING,
          signal,
        );
        return works('accepted', hostOf(settings));
      }
      const sql = createSqlService({ sockets: egress.sockets })({ organisationId });
      await sql.query(credential, SELECT_ONE, signal);
      return works('accepted', hostOf(settings));
    }
    case 'ai':
      return testAi({ ...attempt, credential: await open('ai') });
    case 'chat':
      return testChat({ ...attempt, credential: await open('chat') });
  }
}

function isHttpType(type: CredentialType): type is HttpCredential['type'] {
  return BOUND_TYPES.includes(type);
}

/** Finds a collection that needn't exist. */
const NOTHING: MongoOrder = {
  collection: 'millrace_test',
  command: { kind: 'find', filter: {}, projection: {}, sort: {}, skip: 0, limit: 1 },
  readOnly: true,
  timeoutMs: TIME_LIMIT_MS,
};
const SELECT_ONE = { sql: 'SELECT 1', parameters: [], readOnly: true, maxRows: 1, timeoutMs: TIME_LIMIT_MS };

/** @throws ApiError 422 */
function checkUrl({ type }: CredentialRow, text: string | undefined): string | null {
  const refuse = (code: string, fault: Message) =>
    validationError([{ pointer: '/url', code, message: fault }]);
  if (!BOUND_TYPES.includes(type)) {
    if (text !== undefined)
      throw refuse('invalid_value', message('service.credential_test_without_url', { type }));
    return null;
  }
  if (text === undefined) throw refuse('missing_field', message('service.credential_test_url'));
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw refuse('invalid_value', message('service.url_with_login'));
  }
  return url.href;
}

/** Types that name their host in a field. */
const WITH_HOST: readonly CredentialType[] = ['smtp', 'imap', 'sql', 'redis', 'mqtt', 'kafka'];

/** The destination, if the test was aborted before it was reported. */
function placeOf({ type, settings }: CredentialRow): string | null {
  if (type === 'ai') return modelsUrl(JSON.parse(settings) as Parameters<typeof modelsUrl>[0]);
  return WITH_HOST.includes(type) ? hostOf(settings) : null;
}

function hostOf(settings: string): string {
  const { host, port, brokers } = JSON.parse(settings) as {
    readonly host?: string;
    readonly port?: number;
    readonly brokers?: string;
  };
  return brokers ?? `${host}:${port}`;
}

/** Messages from the other side may repeat what they were sent. */
function maskResult(result: TestResult, secrets: ReadonlySet<string>): TestResult {
  const { where, refusal } = result;
  return {
    ...result,
    where: where === null ? null : inEnglish(maskMessage(verbatim(where), secrets)),
    refusal: refusal === null ? null : maskMessage(refusal, secrets),
  };
}
