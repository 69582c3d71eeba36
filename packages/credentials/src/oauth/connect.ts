import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Database } from '@millrace/database/database';
import type { Egress } from '@millrace/egress/egress';
import type { CredentialOf } from '@millrace/engine';
import { ApiError, notFound } from '@millrace/errors/errors';
import { type AuditActor, insertAudit } from '@millrace/identity/audit/store';
import { message } from '@millrace/messages';
import type { SecretKeys } from '@millrace/secrets/keys';
import { selectSigningSecret } from '@millrace/secrets/signing-secret';
import { joinFields } from '../fields.ts';
import { findSealed, type SealedRow } from '../store.ts';
import { unsealRow } from '../unseal.ts';
import { authorizationUrl, exchangeCode } from './endpoint.ts';
import { connectGrant, insertConnection, takeConnection } from './store.ts';
import { grantOf, tokensText } from './tokens.ts';

/** Where the admin API expects people back from a provider, below the service's own address. */
export const OAUTH_CALLBACK = '/api/admin/oauth/callback';

export interface ConnectDeps {
  readonly db: Database;
  readonly keys: SecretKeys;
  readonly egress: Pick<Egress, 'fetch'>;
  /** Where the provider sends people back to. */
  readonly redirectUri: string;
}

/** A credential of an organisation, and the session of the person who connects it. */
export interface Connecting {
  readonly organisationId: number;
  readonly credentialId: number;
  readonly sessionId: number;
}

const STATE_BYTES = 32;
export const STATE_FORM = /^[A-Za-z0-9_-]{43}$/;
/** Time allowed for signing in at the provider and approving. */
const MINUTES = 10;

/**
 * Where a person has to approve the credential.
 * @throws ApiError `not_found`, `credential_without_person`
 * @throws SecretError if the credential can't be decrypted
 */
export async function beginConnection(deps: ConnectDeps, connecting: Connecting): Promise<URL> {
  const { db, redirectUri } = deps;
  const { credential } = await openForPerson(deps, connecting);
  const state = randomBytes(STATE_BYTES).toString('base64url');
  const codeVerifier = await verifierOf(db, state);
  await db.forOrganisation(connecting.organisationId, (tx) =>
    insertConnection(tx, connecting, hashOf(state), MINUTES),
  );
  return authorizationUrl(credential, { redirectUri, state, codeVerifier });
}

/**
 * What the person who comes back with this state was about to connect; only once, soon, and in the same session. Undefined: nothing.
 */
export async function claimConnection(
  { db }: Pick<ConnectDeps, 'db'>,
  sessionId: number,
  state: string,
): Promise<Connecting | undefined> {
  return takeConnection(db, sessionId, hashOf(state));
}

/**
 * Exchanges the code that a person brought back, stores the tokens and records it.
 * @param returned the address of the callback, with its query
 * @throws TokenError the provider refuses, or can't be reached
 * @throws ApiError `not_found`, `credential_without_person`
 */
export async function finishConnection(
  deps: ConnectDeps,
  connecting: Connecting,
  returned: URL,
  by: AuditActor,
): Promise<void> {
  const { organisationId, credentialId } = connecting;
  const { row, credential } = await openForPerson(deps, connecting);
  const state = returned.searchParams.get('state') ?? '';
  const codeVerifier = await verifierOf(deps.db, state);
  const tokens = await exchangeCode({ egress: deps.egress, organisationId }, credential, returned, {
    state,
    codeVerifier,
  });
  await deps.db.forOrganisation(organisationId, async (tx) => {
    // Tokens for other settings than it has by now would go to the wrong place.
    const now = await findSealed(tx, organisationId, credentialId);
    if (now?.settings !== row.settings) throw notFound('credential');
    const sealed = await deps.keys.seal(tx, tokensText(tokens), grantOf(row));
    await connectGrant(tx, { organisationId, credentialId }, { ...sealed, lifetimeS: tokens.lifetimeS });
    await insertAudit(tx, {
      organisationId,
      action: 'credential.connected',
      by,
      details: { credential_id: row.id, name: row.name, type: row.type },
    });
  });
}

async function openForPerson(
  { db, keys }: ConnectDeps,
  { organisationId, credentialId }: Connecting,
): Promise<{ readonly row: SealedRow; readonly credential: CredentialOf<'oauth2'> }> {
  const row = await db.forOrganisation(organisationId, (tx) => findSealed(tx, organisationId, credentialId));
  if (row === undefined) throw notFound('credential');
  if (row.type === 'oauth2') {
    const opened = joinFields(row.type, row.settings, await unsealRow(keys, row));
    const credential = opened as CredentialOf<'oauth2'>;
    if (credential.grant === 'authorization_code') return { row, credential };
  }
  throw new ApiError('credential_without_person', message('service.credential_without_person'));
}

/** The verifier of PKCE: the browser has the state, but not the secret; the table has neither. */
async function verifierOf(db: Database, state: string): Promise<string> {
  const secret = await selectSigningSecret(db, 'oauth');
  return createHmac('sha256', secret).update('pkce ').update(state).digest('base64url');
}

function hashOf(state: string): Buffer {
  return createHash('sha256').update(state).digest();
}
