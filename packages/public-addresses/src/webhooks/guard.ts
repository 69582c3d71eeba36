import { type JsonObject, ServiceError } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import { publicKeyOf, type SignedCall } from '@millrace/service/webhooks/claims';
import { type AddressedTrigger, WEBHOOK_TRIGGER } from '@millrace/service/webhooks/closed';
import { type AllowsAddress, createAllowList } from '@millrace/service/webhooks/ip-allow-list';
import { type KeySets, verifyJwt } from '@millrace/service/webhooks/jwt';
import type { OpenSecret } from '@millrace/service/webhooks/secrets';
import { verifySignature } from '@millrace/service/webhooks/signature';
import {
  hasPublicKey,
  needsSecret,
  readWebhookOptions,
  type SignatureOptions,
  type WebhookOptions,
} from '@millrace/triggers';
import type { FastifyRequest } from 'fastify';
import { createTriggerReader, type ReadTriggers } from '../addressed-triggers.ts';
import type { AddressDeps } from '../deps.ts';

/** A webhook's settings in usable form. */
export interface Guard extends WebhookOptions {
  /** Of the trigger. */
  readonly nodeId: string;
  /** Whether it is the workflow's first webhook. */
  readonly isFirst: boolean;
  /** Null: any. */
  readonly allows: AllowsAddress | null;
}

const MAX_CONFIG_BYTES = 1024 * 1024;

/** What a call of a workflow's address may reach: its webhooks, in the flow's order, with the settings of each made usable when it is reached. */
export interface Reachable {
  /** As it follows the hash in the address. */
  readonly path: string;
  /** @throws ApiError `invalid_signature` for settings that no call can satisfy */
  readonly guard: () => Guard;
}

/** Settings of a version's webhooks. A flow that can't run is guarded too: its executions fail, but not everyone may start them. */
export function createGuards({ db }: Pick<AddressDeps, 'db'>): ReadTriggers<Reachable> {
  return createTriggerReader(db, {
    type: WEBHOOK_TRIGGER,
    maxConfigBytes: MAX_CONFIG_BYTES,
    read: toReachable,
  });
}

function toReachable(triggers: readonly AddressedTrigger[]): readonly Reachable[] {
  return triggers.map(({ nodeId, config }, index) => {
    let known: Guard | null = null;
    return {
      path: typeof config.path === 'string' ? config.path : '',
      guard: () => {
        known ??= { ...toGuard(config), nodeId, isFirst: index === 0 };
        return known;
      },
    };
  });
}

/** @throws ApiError `invalid_signature` for settings that no call can satisfy */
function toGuard(config: JsonObject): Omit<Guard, 'nodeId' | 'isFirst'> {
  const options = readWebhookOptions(config);
  try {
    if (options === null) throw new Error('the settings of the webhook do not fit');
    const { ip_allow_list: entries, signature } = options;
    if (signature !== null && hasPublicKey(signature.preset)) publicKeyOf(signature);
    return { ...options, allows: entries.length === 0 ? null : createAllowList(entries) };
  } catch (error) {
    throw new ApiError('invalid_signature', message('api.webhook_settings_invalid'), {
      headers: CHALLENGE,
      cause: error,
    });
  }
}

/** Every 401 names an authentication scheme (RFC 9110, 15.5.2). */
const CHALLENGE = { 'www-authenticate': 'Signature' } as const;

function challengeOf(preset: SignatureOptions['preset']): { readonly [name: string]: string } {
  if (preset === 'basic') return { 'www-authenticate': 'Basic realm="webhook"' };
  return preset.startsWith('jwt_') ? { 'www-authenticate': 'Bearer' } : CHALLENGE;
}

/** What calls are checked with. */
export interface CallCheck {
  /** Base of the addresses that were called. */
  readonly publicUrl: string;
  readonly openSecret: OpenSecret;
  readonly keySets: KeySets;
}

/** @throws ApiError `ip_not_allowed` */
export function checkAddress(guard: Guard, request: FastifyRequest): void {
  if (guard.allows !== null && !guard.allows(request.ip))
    throw new ApiError('ip_not_allowed', message('api.webhook_ip_not_allowed'));
}

/**
 * Admits or refuses a call by what it proves.
 * @param now the database's time
 * @throws ApiError `invalid_signature`, `stale_signature`, `keys_unreachable`
 */
export async function checkCall(
  guard: Guard,
  request: FastifyRequest,
  workflow: StartableWorkflow,
  now: Date,
  { publicUrl, openSecret, keySets }: CallCheck,
): Promise<void> {
  const { signature } = guard;
  if (signature === null) return;
  const { preset } = signature;
  const secrets = needsSecret(preset) ? await openSecrets(signature, request, workflow, openSecret) : [];
  const { method, headers, originalUrl } = request;
  const body = request.rawBody ?? Buffer.alloc(0);
  const call: SignedCall = { method, headers, body, url: `${publicUrl}${originalUrl}` };
  const verdict = preset.startsWith('jwt_')
    ? await verifyJwt(signature, secrets, call, now.getTime(), (url) => keySets(workflow.organisationId, url))
    : verifySignature(signature, secrets, call, now.getTime());
  if (verdict.kind === 'valid') return;
  const code = verdict.kind === 'stale' ? 'stale_signature' : 'invalid_signature';
  throw new ApiError(code, verdict.reason, { headers: challengeOf(preset) });
}

/** The usable keys; if one of two isn't usable, only the owner learns that. */
async function openSecrets(
  { credential_id: present, previous_credential_id: former }: SignatureOptions,
  request: FastifyRequest,
  { id, organisationId }: StartableWorkflow,
  openSecret: OpenSecret,
): Promise<string[]> {
  const secrets: string[] = [];
  for (const credentialId of former === null ? [present] : [present, former]) {
    try {
      secrets.push(await openSecret(organisationId, credentialId));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      request.log.warn(
        { code: error.code, workflow_id: id, credential_id: credentialId },
        'could not use a credential that verifies webhook signatures',
      );
    }
  }
  if (secrets.length > 0) return secrets;
  throw new ApiError('invalid_signature', message('api.webhook_secret_unusable'), { headers: CHALLENGE });
}
