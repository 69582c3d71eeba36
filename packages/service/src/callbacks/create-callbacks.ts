import type { Database } from '@millrace/database/database';
import { type CallbackService, type JsonObject, stringifyJson } from '@millrace/engine';
import type { Caller } from '@millrace/runtime/node-services';
import { retryForNode } from '@millrace/runtime/retry-for-node';
import type { SecretKeys } from '@millrace/secrets/keys';
import { type NewCallback, putCallback } from './store.ts';
import { type CallbackKind, createTokenMaker, hashToken, type MakeToken } from './tokens.ts';

export interface CallbackServiceDeps {
  readonly db: Database;
  readonly keys: Pick<SecretKeys, 'find'>;
  /** Base of the URLs, without a trailing slash; read each time, because the actual port may differ from the configured one. */
  readonly publicUrl: () => string;
}

/** Creates one-time URLs whose use sends the caller's node its signal. In test mode they are shown but don't work. */
export function createCallbackService(deps: CallbackServiceDeps): (caller: Caller) => CallbackService {
  const makeToken = createTokenMaker(deps.db, deps.keys);
  return (caller) => ({
    async createCallback({ expiresAtMs }) {
      const token = await put(deps, makeToken, caller, { kind: 'callback', expiresAtMs, question: null });
      return { url: `${deps.publicUrl()}/api/v1/callbacks/${token}` };
    },
    async createApproval({ expiresAtMs, choices, question: questionKey = '', ...asked }) {
      const { title, text, fields = [] } = await masked(caller, asked);
      const question = {
        title: storable(title),
        message: storable(text),
        choicesJson: JSON.stringify(choices.map(({ id, label }) => ({ id, label: storable(label) }))),
        fieldsJson: fields.length === 0 ? null : stringifyJson(fields),
      };
      const order = { kind: 'approval', expiresAtMs, question, questionKey } as const;
      const token = await put(deps, makeToken, caller, order);
      const url = `${deps.publicUrl()}/api/v1/approvals/${token}`;
      const choiceUrls = choices.map(({ id }) => [id, `${url}?choice=${encodeURIComponent(id)}`]);
      return { url, choiceUrls: Object.fromEntries(choiceUrls) };
    },
  });
}

interface Asked {
  readonly title: string;
  readonly text: string;
  readonly fields?: readonly JsonObject[];
}

/** The person who decides may not be allowed to see the execution, whose outputs are masked, too. */
async function masked(caller: Caller, { title, text, fields = [] }: Asked): Promise<Asked> {
  const asked = { title, text, fields };
  return caller.mask === undefined ? asked : ((await caller.mask(asked)) as typeof asked);
}

async function put(
  { db }: CallbackServiceDeps,
  makeToken: MakeToken,
  caller: Caller,
  order: Pick<NewCallback, 'expiresAtMs' | 'question'> & {
    readonly kind: CallbackKind;
    readonly questionKey?: string;
  },
): Promise<string> {
  const { questionKey = '' } = order;
  const key = questionKey === '' ? caller.idempotencyKey : `${caller.idempotencyKey}.${questionKey}`;
  return retryForNode(async () => {
    const token = await makeToken(order.kind, key);
    const tokenHash = hashToken(token);
    if (tokenHash === null) throw new Error('an invalid token was made');
    caller.onSecret(token);
    const { organisationId, executionId, nodeId, iteration } = caller;
    const { expiresAtMs, question } = order;
    const place = { organisationId, executionId, nodeId, iteration, questionKey };
    if (!caller.isTestMode) await putCallback(db, { ...place, tokenHash, expiresAtMs, question });
    return token;
  });
}

/** Rendered text may contain characters that a text column can't store. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}
