import { createHash } from 'node:crypto';
import { Scram } from '@millrace/egress/scram';
import type { CredentialOf } from '@millrace/engine';
import { Binary, type Document } from 'bson';
import { callOk, MongoRefusal } from './answers.ts';
import type { MongoConnection } from './wire.ts';

type Credential = CredentialOf<'sql'>;

type Mechanism = 'SCRAM-SHA-256' | 'SCRAM-SHA-1';

/** What a server says of itself. */
export interface Hello {
  readonly isPrimary: boolean;
  /** Where the primary of its replica set is, `host:port`. */
  readonly primary: string | null;
  readonly mechanism: Mechanism;
}

/** Accounts are usually kept in this database; others in the one they belong to. */
const ACCOUNTS = 'admin';

export async function greet(connection: MongoConnection, { username }: Credential): Promise<Hello> {
  const answer = await callOk(connection, {
    hello: 1,
    saslSupportedMechs: `${ACCOUNTS}.${username}`,
    client: { driver: { name: 'millrace', version: '1' }, os: { type: 'unknown' } },
    $db: ACCOUNTS,
  });
  const mechanisms: unknown = answer.saslSupportedMechs;
  const isOld =
    Array.isArray(mechanisms) && !mechanisms.includes('SCRAM-SHA-256') && mechanisms.includes('SCRAM-SHA-1');
  return {
    isPrimary: answer.isWritablePrimary === true,
    primary: typeof answer.primary === 'string' ? answer.primary : null,
    mechanism: isOld ? 'SCRAM-SHA-1' : 'SCRAM-SHA-256',
  };
}

/** Signs in with the account of that name in `admin`, else in the credential's database. */
export async function signIn(
  connection: MongoConnection,
  mechanism: Mechanism,
  credential: Credential,
): Promise<void> {
  try {
    await signInAt(connection, mechanism, credential, ACCOUNTS);
  } catch (error) {
    const isElsewhere = error instanceof MongoRefusal && error.isSignIn && credential.database !== ACCOUNTS;
    if (!isElsewhere) throw error;
    await signInAt(connection, mechanism, credential, credential.database);
  }
}

async function signInAt(
  connection: MongoConnection,
  mechanism: Mechanism,
  credential: Credential,
  $db: string,
): Promise<void> {
  const { username } = credential;
  const isOld = mechanism === 'SCRAM-SHA-1';
  const hash = isOld ? 'sha1' : 'sha256';
  const password = isOld ? oldPasswordOf(credential) : credential.password.normalize('NFKC');
  const scram = new Scram({ hash, username, password, peer: 'server' });
  const call = (command: Document): Promise<Document> => callOk(connection, { ...command, $db });
  const payload = (text: string): Binary => new Binary(Buffer.from(text));
  const start = { saslStart: 1, mechanism, options: { skipEmptyExchange: true } };
  const first = await call({ ...start, payload: payload(scram.first()) });
  const conversationId: unknown = first.conversationId;
  const proof = await scram.proof(textIn(first.payload));
  const second = await call({ saslContinue: 1, conversationId, payload: payload(proof) });
  scram.check(textIn(second.payload));
  // Servers before 4.4 want one more, empty message.
  if (second.done !== true) await call({ saslContinue: 1, conversationId, payload: payload('') });
}

/** MongoDB's older mechanism knows the password only by this digest. */
function oldPasswordOf({ username, password }: Credential): string {
  return createHash('md5').update(`${username}:mongo:${password}`).digest('hex');
}

function textIn(payload: unknown): string {
  return payload instanceof Binary ? Buffer.from(payload.buffer).toString() : '';
}
