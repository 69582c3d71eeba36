import { generateKeyPairSync } from 'node:crypto';
import type { Credential, CredentialType, JsonObject, JsonValue } from '@millrace/engine';
import { createOrganisation } from '@millrace/identity/organisations/store';
import type { Caller } from '@millrace/runtime/node-services';
import type { SecretKeys } from '@millrace/secrets/keys';
import type { TestDatabase } from '@millrace/testing/database';
import { pino } from 'pino';
import { addCredential } from '../src/credentials.ts';
import { BOUND_TYPES } from '../src/schema.ts';
import { createCredentialService } from '../src/service.ts';
import type { CredentialRow } from '../src/store.ts';

export const OPERATOR = { actor: 'operator' } as const;

const PRIVATE_KEY = generateKeyPairSync('ed25519')
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

/** Fields of every type, with the word `canary` in each secret one. */
export const FIELDS: Readonly<Record<CredentialType, JsonObject>> = {
  bearer: { token: 'canary-token' },
  basic: { username: 'canary-user', password: 'canary-password' },
  header: { name: 'X-Key', value: 'canary-value' },
  query: { name: 'key', value: 'canary-value' },
  digest: { username: 'canary-user', password: 'canary-password' },
  oauth2: {
    grant: 'client_credentials',
    token_url: 'https://id.example.com/token',
    client_id: 'millrace',
    client_secret: 'canary-client',
  },
  google_service_account: {
    client_email: 'robot@project.iam.example',
    private_key: PRIVATE_KEY,
    scope: 'https://www.googleapis.com/auth/drive.readonly',
  },
  aws: { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'canary-aws' },
  jwt: { algorithm: 'HS256', key: 'canary-jwt' },
  client_certificate: { certificate: PRIVATE_KEY, private_key: PRIVATE_KEY, passphrase: 'canary-passphrase' },
  secret: { value: 'canary-signing' },
  smtp: { host: 'smtp.example.com', username: 'ada', password: 'canary-smtp' },
  imap: { host: 'imap.example.com', username: 'ada', password: 'canary-imap' },
  redis: { host: 'redis.example.com', username: 'ada', password: 'canary-redis' },
  mqtt: { host: 'mqtt.example.com', username: 'ada', password: 'canary-mqtt' },
  kafka: { brokers: 'kafka.example.com:9093', username: 'ada', password: 'canary-kafka' },
  sql: { host: 'db.example.com', database: 'shop', username: 'ada', password: 'canary-sql' },
  ai: { provider: 'anthropic', api_key: 'canary-ai' },
  chat: { service: 'slack', webhook_url: 'https://hooks.example.com/canary-hook', token: 'canary-bot' },
};

export const HOSTS = ['api.example.com'];

/** For what sends nothing. */
const NO_EGRESS = {
  http: () => {
    throw new Error('nothing is sent');
  },
  fetch: () => {
    throw new Error('nothing is sent');
  },
};

let names = 0;

/** Stores a credential of the type. */
export async function storeCredential(
  { db }: TestDatabase,
  keys: SecretKeys,
  organisationId: number,
  type: CredentialType,
  fields: JsonObject = FIELDS[type],
): Promise<CredentialRow> {
  names += 1;
  const hosts = BOUND_TYPES.includes(type) ? HOSTS : [];
  const given = { organisationId, name: `${type} ${names}`, type, hosts, fields };
  return addCredential({ db, keys }, given, OPERATOR);
}

export async function newOrganisation({ db }: TestDatabase): Promise<number> {
  names += 1;
  return (await createOrganisation(db, `organisation ${names}`, OPERATOR)).id;
}

/** What a node of the organisation would get, and what was masked from then on. */
export async function openAs(
  { db }: TestDatabase,
  keys: SecretKeys,
  organisationId: number,
  id: number,
  use: { readonly types: readonly CredentialType[]; readonly url?: string },
): Promise<{
  readonly credential: Credential;
  readonly masked: readonly string[];
  readonly logs: readonly string[];
}> {
  const masked: string[] = [];
  const logs: string[] = [];
  const log = pino({}, { write: (line: string) => void logs.push(line) });
  const caller: Caller = {
    organisationId,
    workflowId: 1,
    executionId: 1,
    nodeId: 'node',
    iteration: [],
    idempotencyKey: 'key',
    isTestMode: false,
    onSecret: (secret) => void masked.push(secret),
  };
  const open = createCredentialService({ db, keys, log, egress: NO_EGRESS })(caller).open(id, use);
  const credential = await open.catch((error: unknown) => {
    throw Object.assign(error as Error, { logs });
  });
  return { credential, masked, logs };
}

/** Every row of every table as text; bytes in hexadecimal. */
export async function dumpRows({ db }: TestDatabase): Promise<string> {
  const tables = await db.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  const dumps = await Promise.all(
    tables.map(({ name }) => db.query<{ row: JsonValue }>(`SELECT to_json(t)::text AS row FROM ${name} t`)),
  );
  return JSON.stringify(dumps);
}
