import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@millrace/database/database';
import { retryWhileUnavailable } from '@millrace/database/retry';
import { cutOnAbort } from '@millrace/egress/cut-on-abort';
import type { Egress } from '@millrace/egress/egress';
import { EXCHANGE_TIMEOUT_MS, TokenError, type Tokens } from '@millrace/egress/token-endpoint';
import { ServiceError } from '@millrace/engine';
import { insertAudit } from '@millrace/identity/audit/store';
import { message } from '@millrace/messages';
import { SecretError } from '@millrace/secrets/errors';
import type { SecretKeys } from '@millrace/secrets/keys';
import type { SealedRow } from '../store.ts';
import { unreadable } from '../unseal.ts';
import { fetchTokens, type TokenCredential } from './endpoint.ts';
import { endGrant, findGrant, type GrantRow, releaseLease, storeTokens, takeLease } from './store.ts';

/** Longer than an exchange takes at most, storing its result included. */
const LEASE_MS = 2 * EXCHANGE_TIMEOUT_MS;
/** Between looks at a row that another process is renewing. */
const PAUSE_MS = 100;

export interface TokenDeps {
  readonly db: Database;
  readonly keys: SecretKeys;
  readonly egress: Pick<Egress, 'fetch'>;
}

/** A credential whose tokens are fetched, opened. */
export interface TokenOwner {
  readonly row: SealedRow;
  readonly credential: TokenCredential;
}

/** A token, and which of the credential's it is. */
export interface Token {
  readonly text: string;
  readonly generation: number;
  /** Every string that reveals the tokens. */
  readonly secrets: readonly string[];
}

export type TokenSource = ReturnType<typeof createTokenSource>;

/** The tokens of all credentials, for one process. */
export function createTokenSource(deps: TokenDeps) {
  /** What this process is fetching or waiting for, by credential. */
  const renewals = new Map<number, Promise<void>>();

  const renewOnce = (owner: TokenOwner, generation: number): Promise<void> => {
    const { id } = owner.row;
    const running = renewals.get(id);
    if (running !== undefined) return running;
    const renewal = renew(deps, owner, generation).finally(() => renewals.delete(id));
    renewals.set(id, renewal);
    return renewal;
  };

  return {
    /**
     * A token that can be used, fetched first if necessary: once, however many ask, in all processes.
     * @param refused generation of a token that a server didn't accept
     * @returns null if a refused token can't be replaced by a better one
     * @throws ServiceError credential_not_connected, credential_disconnected, credential_token_refused, credential_token_unavailable
     */
    async find(owner: TokenOwner, signal: AbortSignal, refused = 0): Promise<Token | null> {
      for (;;) {
        const grant = await readGrant(deps, owner);
        checkConnected(owner, grant);
        const tokens = await openTokens(deps, owner, grant);
        const isRefused = refused !== 0 && grant?.generation === refused;
        const isRenewable = mayRenew(owner, tokens);
        if (isRefused && (grant?.is_new === true || !isRenewable)) return null;
        // Just fetched counts as valid: a provider whose tokens last no time must not be asked again and again.
        const isUsable =
          grant !== undefined && tokens !== null && !isRefused && (grant.is_valid || grant.is_new);
        if (isUsable && (!grant.is_due || grant.is_new || !isRenewable)) return toToken(grant, tokens);
        try {
          await withSignal(renewOnce(owner, grant?.generation ?? 0), signal);
        } catch (error) {
          // The token still lasts a moment.
          const isBridgeable = error instanceof ServiceError && error.retryable && isUsable;
          if (!isBridgeable) throw error;
          return toToken(grant, tokens);
        }
      }
    },
  };
}

/** Fetches the next tokens, or waits until another process has tried to. */
async function renew(deps: TokenDeps, owner: TokenOwner, generation: number): Promise<void> {
  const { id: credentialId, organisation_id: organisationId, settings } = owner.row;
  const lease = randomUUID();
  const wanted = { organisationId, credentialId, generation, settings };
  for (;;) {
    if (await inOrganisation(deps, owner, (tx) => takeLease(tx, wanted, lease, LEASE_MS))) break;
    const grant = await readGrant(deps, owner);
    if (grant === undefined) {
      throw failureOf(owner, new TokenError('unavailable', message('ports.token_credential_changed')));
    }
    if (grant.generation !== generation) return;
    await pause(PAUSE_MS);
  }
  try {
    // Read under the lease: nobody else replaces it now, except a person who connects.
    const before = await readGrant(deps, owner);
    const tokens = before?.state === 'active' ? await openTokens(deps, owner, before) : null;
    if (!mayRenew(owner, tokens)) {
      if (before?.is_valid === true) return await release(deps, owner, lease);
      throw new TokenError('ended', message('ports.token_expired'));
    }
    const next = await fetchTokens(
      { egress: deps.egress, organisationId },
      owner.credential,
      tokens?.refreshToken ?? null,
      Date.now(),
    );
    await retryWhileUnavailable(() => keep(deps, owner, lease, next), { timeoutMs: EXCHANGE_TIMEOUT_MS });
  } catch (error) {
    if (error instanceof TokenError && error.kind === 'ended' && needsPerson(owner.credential)) {
      await end(deps, owner, lease);
      return;
    }
    await release(deps, owner, lease);
    throw error instanceof TokenError ? failureOf(owner, error) : error;
  }
}

async function keep(deps: TokenDeps, owner: TokenOwner, lease: string, tokens: Tokens): Promise<void> {
  await inOrganisation(deps, owner, async (tx) => {
    const sealed = await deps.keys.seal(tx, tokensText(tokens), grantOf(owner.row));
    await storeTokens(tx, owner.row.id, lease, { ...sealed, lifetimeS: tokens.lifetimeS });
  });
}

async function end(deps: TokenDeps, owner: TokenOwner, lease: string): Promise<void> {
  const { id, organisation_id: organisationId, name, type } = owner.row;
  await inOrganisation(deps, owner, async (tx) => {
    if (!(await endGrant(tx, id, lease))) return;
    await insertAudit(tx, {
      organisationId,
      action: 'credential.disconnected',
      by: { actor: 'service' },
      details: { credential_id: id, name, type },
    });
  });
}

function release(deps: TokenDeps, owner: TokenOwner, lease: string): Promise<void> {
  return inOrganisation(deps, owner, (tx) => releaseLease(tx, owner.row.id, lease));
}

function readGrant(deps: TokenDeps, owner: TokenOwner): Promise<GrantRow | undefined> {
  const { organisation_id: organisationId, id } = owner.row;
  return inOrganisation(deps, owner, (tx) => findGrant(tx, organisationId, id));
}

function inOrganisation<T>(
  { db }: TokenDeps,
  { row }: TokenOwner,
  work: Parameters<typeof db.forOrganisation<T>>[1],
): Promise<T> {
  return db.forOrganisation(row.organisation_id, work);
}

function checkConnected({ row, credential }: TokenOwner, grant: GrantRow | undefined): void {
  if (!needsPerson(credential)) return;
  const { id, name } = row;
  if (grant === undefined || grant.state === 'pending') {
    throw new ServiceError(
      'credential_not_connected',
      message('ports.credential_not_connected', { id, name }),
    );
  }
  if (grant.state === 'ended') {
    const host = hostOf(credential);
    throw new ServiceError(
      'credential_disconnected',
      message('ports.credential_disconnected', { id, name, host }),
    );
  }
}

/** Whether a person has to approve, so that only a refresh token leads to new tokens. */
function needsPerson(credential: TokenCredential): boolean {
  return credential.type === 'oauth2' && credential.grant === 'authorization_code';
}

function mayRenew({ credential }: TokenOwner, tokens: Tokens | null): boolean {
  return !needsPerson(credential) || tokens?.refreshToken != null;
}

function failureOf(
  { row: { id, name }, credential }: TokenOwner,
  { kind, reason, cause }: TokenError,
): ServiceError {
  const host = hostOf(credential);
  return kind === 'unavailable'
    ? new ServiceError(
        'credential_token_unavailable',
        message('ports.credential_token_unavailable', { id, name, host, reason }),
        { retryable: true, cause },
      )
    : new ServiceError(
        'credential_token_refused',
        message('ports.credential_token_refused', { id, name, host, reason }),
        {
          cause,
        },
      );
}

function hostOf({ token_url: url }: TokenCredential): string {
  return URL.parse(url)?.host ?? url;
}

/** What a ciphertext of tokens belongs to. */
export function grantOf({
  id,
  organisation_id: organisationId,
}: Pick<SealedRow, 'id' | 'organisation_id'>): string {
  return JSON.stringify(['credential grant', organisationId, id]);
}

/** The plaintext of tokens. */
export function tokensText({
  accessToken,
  refreshToken,
}: Pick<Tokens, 'accessToken' | 'refreshToken'>): string {
  return JSON.stringify({ access_token: accessToken, refresh_token: refreshToken });
}

async function openTokens(
  deps: TokenDeps,
  { row }: TokenOwner,
  grant: GrantRow | undefined,
): Promise<Tokens | null> {
  if (grant === undefined || grant.ciphertext === null) return null;
  try {
    const text = await deps.keys.unseal(grant.ciphertext, grantOf(row));
    const { access_token: accessToken, refresh_token: refreshToken } = JSON.parse(text) as {
      readonly access_token: string;
      readonly refresh_token: string | null;
    };
    return { accessToken, refreshToken, lifetimeS: null };
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    throw unreadable(row, error);
  }
}

function toToken({ generation }: GrantRow, { accessToken, refreshToken }: Tokens): Token {
  return {
    text: accessToken,
    generation,
    secrets: refreshToken === null ? [accessToken] : [accessToken, refreshToken],
  };
}

/** Ends one caller's waiting; what it waits for goes on for the others. */
async function withSignal(work: Promise<void>, signal: AbortSignal): Promise<void> {
  // It goes on if nobody waits for it any more.
  work.catch(() => {});
  const { promise, reject } = Promise.withResolvers<never>();
  await cutOnAbort(
    signal,
    () => reject(signal.reason as Error),
    () => Promise.race([promise, work]),
  );
}
