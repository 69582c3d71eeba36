import type { Database } from '@millrace/database/database';
import type { Egress } from '@millrace/egress/egress';
import {
  type Credential,
  type CredentialOf,
  type CredentialService,
  type CredentialType,
  HTTP_CREDENTIAL_TYPES,
  type HttpClient,
  type JsonObject,
  parseJson,
  ServiceError,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Caller } from '@millrace/runtime/node-services';
import { SecretError } from '@millrace/secrets/errors';
import type { SecretKeys } from '@millrace/secrets/keys';
import type { Logger } from 'pino';
import { joinFields } from './fields.ts';
import { allowsUrl } from './hosts.ts';
import { authenticateRequest } from './http/authenticate.ts';
import { createTokenSource } from './oauth/tokens.ts';
import { BOUND_TYPES } from './schema.ts';
import { findSealed, noteUse, type SealedRow } from './store.ts';
import { unreadable, unsealRow } from './unseal.ts';

export interface CredentialServiceDeps {
  readonly db: Database;
  readonly keys: SecretKeys;
  readonly log: Logger;
  /** How tokens are fetched. */
  readonly egress: Pick<Egress, 'fetch' | 'http'>;
  /** Whether the last use of a credential is recorded. Default true. */
  readonly notesUse?: boolean;
}

/** Who uses a credential; an execution, if it is one of its nodes. */
type User = Pick<Caller, 'organisationId' | 'onSecret'> & Partial<Pick<Caller, 'executionId'>>;
/** @param context whose client sends requests; the organisation's if absent */
type OpenCredentials = (caller: User, context?: { readonly http: HttpClient }) => CredentialService;

/**
 * The only way to a decrypted credential. Each use reads the row, so a change or removal applies at once in all processes,
 * and no secret stays in memory longer than its node.
 */
export function createCredentialService(deps: CredentialServiceDeps): OpenCredentials {
  const tokens = createTokenSource(deps);
  return (caller, context) => {
    const openRow = async <Type extends CredentialType>(
      id: number,
      use: { readonly types: readonly Type[]; readonly url?: string },
    ): Promise<{ readonly row: SealedRow; readonly credential: CredentialOf<Type> }> => {
      const row = await findForUse(deps, caller.organisationId, id);
      checkType(row, use.types);
      checkHost(row, use.url);
      const secrets = await decrypt(deps, row, caller);
      const credential = joinFields(row.type, row.settings, secrets);
      for (const text of secretTexts(credential, secrets)) caller.onSecret(text);
      return { row, credential: credential as CredentialOf<Type> };
    };
    return {
      open: async (id, use) => (await openRow(id, use)).credential,
      async authenticate(id, request) {
        const { row, credential } = await openRow(id, { types: HTTP_CREDENTIAL_TYPES, url: request.url });
        return authenticateRequest(row, credential, request, {
          http: context?.http ?? deps.egress.http(caller.organisationId),
          tokens,
          now: Date.now,
          onSecret: caller.onSecret,
        });
      },
      async token(id, { url, refused }, signal) {
        const { row, credential } = await openRow(id, { types: ['oauth2'], url });
        const token = await tokens.find({ row, credential }, signal, refused?.generation);
        for (const secret of token?.secrets ?? []) caller.onSecret(secret);
        return token === null ? null : { text: token.text, generation: token.generation };
      },
    };
  };
}

async function findForUse(
  { db, notesUse = true }: CredentialServiceDeps,
  organisationId: number,
  id: number,
): Promise<SealedRow> {
  const row = Number.isSafeInteger(id)
    ? await db.forOrganisation(organisationId, async (tx) => {
        const found = await findSealed(tx, organisationId, id);
        if (notesUse && found?.use_due === true) await noteUse(tx, found.id);
        return found;
      })
    : undefined;
  if (row !== undefined) return row;
  throw new ServiceError(
    'credential_not_found',
    id === 0 ? message('ports.credential_not_chosen') : message('ports.credential_not_found', { id }),
  );
}

function checkType(row: SealedRow, types: readonly CredentialType[]): void {
  if (types.includes(row.type)) return;
  throw new ServiceError(
    'credential_wrong_type',
    message('ports.credential_wrong_type', {
      id: row.id,
      name: row.name,
      type: row.type,
      types: types.join(' or '),
    }),
  );
}

function checkHost(row: SealedRow, url: string | undefined): void {
  if (url === undefined && !BOUND_TYPES.includes(row.type)) return;
  if (url !== undefined && allowsUrl(row.hosts, url)) return;
  const { id, name } = row;
  const host = URL.parse(url ?? '')?.host ?? message('ports.unknown_host');
  const hosts = row.hosts.length === 0 ? message('ports.no_host') : row.hosts.join(', ');
  throw new ServiceError(
    'credential_host_not_allowed',
    message('ports.credential_host', { id, name, host, hosts }),
  );
}

async function decrypt(
  { keys, log }: CredentialServiceDeps,
  row: SealedRow,
  { executionId }: User,
): Promise<string> {
  if (row.ciphertext === null) {
    throw new ServiceError(
      'credential_unreadable',
      message('ports.credential_key_lost', { id: row.id, name: row.name }),
    );
  }
  try {
    return await unsealRow(keys, row);
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    // Keys and files concern the operator, not the workflow's author.
    const about = { credential_id: row.id, execution_id: executionId };
    log.error({ err: error, ...about }, 'could not decrypt a credential');
    throw unreadable(row, error);
  }
}

/** Every string that reveals the secret, including its forms on the wire. */
function secretTexts(credential: Credential, secrets: string): string[] {
  const texts = Object.values(parseJson(secrets) as JsonObject).filter((value) => typeof value === 'string');
  switch (credential.type) {
    case 'basic':
    case 'digest':
      return [
        ...texts,
        Buffer.from(`${credential.username}:${credential.password}`, 'utf8').toString('base64'),
      ];
    case 'chat': {
      const url = URL.parse(credential.webhook_url ?? '');
      if (url === null) return texts;
      // Messages show a URL without its query, or only its path.
      const paths = [`${url.pathname}${url.search}`, url.pathname].filter((path) => path !== '/');
      return [...texts, url.href, ...paths];
    }
    default:
      return texts;
  }
}
