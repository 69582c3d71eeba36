import type { AlertChannel, AlertTarget } from '@millrace/admin-api';
import { createCredentialService } from '@millrace/credentials/service';
import type { Database } from '@millrace/database/database';
import type { Egress } from '@millrace/egress/egress';
import {
  failure,
  finishWork,
  isWork,
  type JsonObject,
  Meter,
  type NodeContext,
  type NodeRegistry,
  type NodeResult,
  type NodeServices,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { reasonOf } from '@millrace/messages/explained-error';
import { createMailService } from '@millrace/ports/mail';
import { maskSecrets } from '@millrace/runtime/mask';
import type { SecretKeys } from '@millrace/secrets/keys';
import type { Logger } from 'pino';
import type { AlertText } from './texts.ts';

export interface DeliveryDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly registry: NodeRegistry;
  readonly egress: Egress;
  readonly secretKeys: SecretKeys;
}

/** A message and where it goes. */
export interface Delivery {
  readonly organisationId: number;
  readonly channel: AlertChannel;
  readonly target: AlertTarget;
  readonly text: AlertText;
  readonly payload: JsonObject;
  /** The same in all attempts, by which receivers recognise a repeat. */
  readonly key: string;
  /** When the message was made. */
  readonly at: Date;
  /** Only checks whether it could be sent. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

const NODES: { readonly [C in AlertChannel]: string } = {
  mail: 'email.send',
  chat: 'chat.notify',
  webhook: 'http.webhook_output',
};
/** The nodes that send use the others only. */
type UnusedService = Exclude<keyof NodeServices, 'credentials' | 'mail'> | 'readWhole';

const TIMEOUT_MS = 30_000;
const EVENT_TYPE = 'millrace.alert';

/**
 * Sends a message by the node that knows the channel, with its rules for hosts, credentials and limits. Whatever goes wrong is the
 * result's failure, without secrets.
 */
export async function deliver(deps: DeliveryDeps, delivery: Delivery): Promise<NodeResult> {
  const { db, log, registry, egress, secretKeys } = deps;
  const { organisationId, channel, isDryRun } = delivery;
  const node = registry(NODES[channel]);
  if (node === undefined) throw new Error(`there is no node ${NODES[channel]}`);
  const secrets = new Set<string>();
  const caller = {
    organisationId,
    ...{ workflowId: 0, executionId: 0, nodeId: 'alert', iteration: [], idempotencyKey: delivery.key },
    isTestMode: isDryRun,
    onSecret: (secret: string) => void secrets.add(secret),
  };
  const context: Omit<NodeContext, UnusedService> = {
    config: configOf(delivery),
    node: { id: 'alert', label: node.title },
    execution: { id: 0, workflowId: 0, organisationId, isTestMode: isDryRun },
    triggerData: null,
    inputs: {},
    inputOrder: [],
    attempt: 1,
    previousOutput: null,
    iteration: [],
    idempotencyKey: delivery.key,
    aiTokensLeft: null,
    timezone: null,
    render: (template) => template,
    signal: delivery.signal,
    http: egress.http(organisationId),
    now: () => Date.now(),
    // A delivery's answer is bounded by its channel.
    inTurns: async (make) => finishWork(make(new Meter())),
    credentials: createCredentialService({ db, keys: secretKeys, log, egress, notesUse: !isDryRun })(caller),
    mail: createMailService({ sockets: egress.sockets, silenceMs: TIMEOUT_MS })(caller),
  };
  const running = node.run(context as NodeContext);
  const result = await (isWork(running) ? finishWork(running) : running);
  return finishWork(maskSecrets(result, secrets));
}

function configOf({ channel, target, text, payload, at }: Delivery): JsonObject {
  const { credential_id, from = '', to = '', url = '' } = target;
  switch (channel) {
    case 'mail':
      return { credential_id, from, to, subject: text.title, text: `${text.text}\n\n${text.link.url}\n` };
    case 'chat':
      return {
        credential_id,
        channel: to,
        title: text.title,
        text: text.text,
        link: { ...text.link },
        color: text.isBad ? 'error' : 'success',
        timeout_ms: TIMEOUT_MS,
      };
    case 'webhook':
      return {
        credential_id,
        url,
        payload: { type: EVENT_TYPE, timestamp: at.toISOString(), data: payload },
        timeout_ms: TIMEOUT_MS,
      };
  }
}

/** An attempt that threw, as a failure that may be tried again: a defect of ours must not lose the message. */
export function thrown(error: unknown): NodeResult {
  return failure('alert_error', message('alert.not_sent', { reason: reasonOf(error) }), { retryable: true });
}
