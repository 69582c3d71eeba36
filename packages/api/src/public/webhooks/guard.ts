import {
  type CompileResult,
  type JsonObject,
  type Plan,
  parseJson,
  render,
  ServiceError,
} from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { readWebhookOptions, type SignatureOptions, type WebhookOptions } from '@millrace/nodes';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import { webhookConfigOf } from '@millrace/service/webhooks/closed';
import { type AllowsAddress, createAllowList } from '@millrace/service/webhooks/ip-allow-list';
import type { OpenSecret } from '@millrace/service/webhooks/secrets';
import { verifySignature } from '@millrace/service/webhooks/signature';
import { findVersion } from '@millrace/service/workflows/store';
import type { FastifyRequest } from 'fastify';
import type { AppDeps } from '../../http/app-deps.ts';

/** A webhook's settings in usable form. */
export interface Guard extends WebhookOptions {
  /** Null: any. */
  readonly allows: AllowsAddress | null;
}

const MAX_CONFIG_BYTES = 1024 * 1024;

/** Settings of the version's trigger, read once per plan. */
export function createGuards({
  db,
}: Pick<AppDeps, 'db'>): (workflow: StartableWorkflow, compiled: CompileResult) => Promise<Guard> | Guard {
  const ofPlans = new WeakMap<Plan, Guard>();

  /** A flow that can't run is guarded too: its executions fail, but not everyone may start them. */
  async function ofUnfinished({ id, organisationId, version }: StartableWorkflow): Promise<Guard> {
    const row = await findVersion(db, organisationId, id, version);
    return toGuard(row === undefined ? {} : webhookConfigOf(parseJson(row.flow_data)));
  }

  return (workflow, compiled) => {
    if (compiled.kind === 'invalid') return ofUnfinished(workflow);
    const { plan } = compiled;
    const known = ofPlans.get(plan);
    if (known !== undefined) return known;
    const guard = toGuard(configOf(plan));
    ofPlans.set(plan, guard);
    return guard;
  };
}

/** The trigger's config; its response is rendered when the execution has ended. */
function configOf({ trigger, vars }: Plan): JsonObject {
  const { config } = trigger;
  const scope = { triggerData: null, executionId: 0, vars, nodeOutput: () => null };
  return render(config, scope, MAX_CONFIG_BYTES) as JsonObject;
}

/** @throws ApiError `invalid_signature` for settings that no call can satisfy */
function toGuard(config: JsonObject): Guard {
  const options = readWebhookOptions(config);
  try {
    if (options === null) throw new Error('the settings of the webhook do not fit');
    const { ip_allow_list: entries } = options;
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

/**
 * Admits or refuses a call by address and signature.
 * @param now the database's time
 * @throws ApiError `ip_not_allowed`, `invalid_signature`, `stale_signature`
 */
export async function checkCall(
  guard: Guard,
  request: FastifyRequest,
  workflow: StartableWorkflow,
  now: Date,
  openSecret: OpenSecret,
): Promise<void> {
  if (guard.allows !== null && !guard.allows(request.ip)) {
    throw new ApiError('ip_not_allowed', message('api.webhook_ip_not_allowed'));
  }
  const { signature } = guard;
  if (signature === null) return;
  const secrets = await openSecrets(signature, request, workflow, openSecret);
  const body = request.rawBody ?? Buffer.alloc(0);
  const verdict = verifySignature(signature, secrets, { body, headers: request.headers }, now.getTime());
  if (verdict.kind === 'valid') return;
  const code = verdict.kind === 'stale' ? 'stale_signature' : 'invalid_signature';
  throw new ApiError(code, verdict.reason, { headers: CHALLENGE });
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
