import { randomBytes } from 'node:crypto';
import type { HostedChat, HostedForm, Webhook } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { formatTimestamp, parseJson } from '@millrace/engine';
import { escapeHtml } from '@millrace/http/html';
import { pathId } from '@millrace/http/ids';
import { findSample, type SampleRow } from '@millrace/service/samples/store';
import {
  CHAT_TRIGGER,
  chatClosedBecause,
  FORM_TRIGGER,
  formClosedBecause,
  triggersOfType,
  WEBHOOK_TRIGGER,
  webhookClosedBecause,
} from '@millrace/service/webhooks/closed';
import { deleteFormerHashes, listFormerHashes, replaceHash } from '@millrace/service/webhooks/store';
import { readLockedWorkflow, WEBHOOK_HASH_BYTES } from '@millrace/service/workflows/save';
import type { WorkflowDetailRow } from '@millrace/service/workflows/store';
import {
  readChatOptions,
  readFormOptions,
  readWebhookOptions,
  type SignatureOptions,
} from '@millrace/triggers';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { adminRoute } from '../http/route.ts';
import { requireWorkflow } from '../workflows/detail.ts';
import { authorOf, recordWorkflow } from '../workflows/origin.ts';
import { curlOf } from './curl.ts';

const OVERLAP_HOURS = 24;
/** A longer sample would make the command unreadable. */
const MAX_CURL_BODY = 4_000;

/** The webhook, the form or the chat of a workflow: its URL and its rotation. */
export function webhookAdminRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/webhook', async ({ organisation, params, query }) => {
    const id = pathId(params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) =>
      describeWebhook(tx, await requireWorkflow(tx, organisation.id, id), query.node, config.publicUrl),
    );
  });

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/form', async ({ organisation, params, query }) => {
    const id = pathId(params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) =>
      describeForm(tx, await requireWorkflow(tx, organisation.id, id), query.node, config.publicUrl),
    );
  });

  adminRoute(app, deps, 'GET /orgs/:org/workflows/:id/chat', async ({ organisation, params }) => {
    const id = pathId(params.id, 'workflow');
    return db.forOrganisation(organisation.id, async (tx) =>
      describeChat(tx, await requireWorkflow(tx, organisation.id, id), config.publicUrl),
    );
  });

  adminRoute(app, deps, 'POST /orgs/:org/workflows/:id/webhook/regenerate', async (call) => {
    const { organisation, session, body } = call;
    const id = pathId(call.params.id, 'workflow');
    const endsNow = body.ends_previous_now === true;
    return db.forOrganisation(organisation.id, async (tx) => {
      const row = await readLockedWorkflow(tx, authorOf(session, organisation.id), id);
      const hash = randomBytes(WEBHOOK_HASH_BYTES).toString('base64url');
      await replaceHash(tx, id, hash, endsNow ? 0 : OVERLAP_HOURS);
      if (endsNow) await deleteFormerHashes(tx, id);
      await recordWorkflow(tx, call, 'workflow.webhook_regenerated', id, { ends_previous_now: endsNow });
      return describeWebhook(tx, { ...row, webhook_hash: hash }, call.query.node, config.publicUrl);
    });
  });
}

/** The requested trigger, or the first of its type; undefined if the saved version doesn't have it. */
function findTrigger(row: WorkflowDetailRow, type: string, nodeId: string | undefined) {
  const triggers = triggersOfType(parseJson(row.flow_data), type);
  const index = nodeId === undefined ? 0 : triggers.findIndex((each) => each.nodeId === nodeId);
  const trigger = triggers[index];
  return trigger === undefined ? undefined : { ...trigger, isFirst: index === 0 };
}

async function describeWebhook(
  tx: Queryable,
  row: WorkflowDetailRow,
  nodeId: string | undefined,
  publicUrl: string,
): Promise<Webhook> {
  const trigger = findTrigger(row, WEBHOOK_TRIGGER, nodeId);
  const options = readWebhookOptions(trigger?.config ?? {});
  const path = options === null || options.path === '' ? '' : `/${options.path}`;
  const urlOf = (hash: string) => `${publicUrl}/api/v1/webhooks/${hash}${path}`;
  const url = urlOf(row.webhook_hash);
  const sample = await findSample(tx, row.id);
  const reason = trigger === undefined ? 'no_webhook_trigger' : webhookClosedBecause(row);
  const signature = options?.signature ?? null;
  const former = await listFormerHashes(tx, row.id);
  return {
    url,
    hash: row.webhook_hash,
    curl: curlOf(url, bodyOf(sample), signature),
    is_open: reason === null,
    reason,
    signature: signature === null ? null : presentSignature(signature),
    previous: former.map(({ hash, valid_until: until }) => ({
      url: urlOf(hash),
      hash,
      valid_until: formatTimestamp(until),
    })),
  };
}

/** A form has the hash of its workflow; all but the first are distinguished by their nodes. */
async function describeForm(
  tx: Queryable,
  row: WorkflowDetailRow,
  nodeId: string | undefined,
  publicUrl: string,
): Promise<HostedForm> {
  const trigger = findTrigger(row, FORM_TRIGGER, nodeId);
  const isFirst = trigger?.isFirst ?? triggersOfType(parseJson(row.flow_data), FORM_TRIGGER).length === 0;
  const rest = isFirst || nodeId === undefined ? '' : `/nodes/${encodeURIComponent(nodeId)}`;
  const urlOf = (hash: string) => `${publicUrl}/api/v1/forms/${hash}${rest}`;
  const url = urlOf(row.webhook_hash);
  const { title = '', allowed_origins: origins = [] } = readFormOptions(trigger?.config ?? {}, null) ?? {};
  const reason = trigger === undefined ? 'no_form_trigger' : formClosedBecause(row);
  const former = await listFormerHashes(tx, row.id);
  return {
    url,
    // Forms run no scripts, so the website sets the height.
    snippet: `<iframe src="${url}" title="${escapeHtml(title)}" style="width:100%;height:40rem;border:0"></iframe>`,
    origins,
    is_open: reason === null,
    reason,
    previous: former.map(({ hash, valid_until: until }) => ({
      url: urlOf(hash),
      valid_until: formatTimestamp(until),
    })),
  };
}

/** A chat has the hash of its workflow, which has at most one. */
async function describeChat(tx: Queryable, row: WorkflowDetailRow, publicUrl: string): Promise<HostedChat> {
  const urlOf = (hash: string) => `${publicUrl}/api/v1/chat/${hash}`;
  const url = urlOf(row.webhook_hash);
  const trigger = findTrigger(row, CHAT_TRIGGER, undefined);
  const reason = trigger === undefined ? 'no_chat_trigger' : chatClosedBecause(row);
  const former = await listFormerHashes(tx, row.id);
  return {
    url,
    snippet: `<script src="${url}/embed.js" async></script>`,
    origins: readChatOptions(trigger?.config ?? {})?.allowed_origins ?? [],
    is_open: reason === null,
    reason,
    previous: former.map(({ hash, valid_until: until }) => ({
      url: urlOf(hash),
      valid_until: formatTimestamp(until),
    })),
  };
}

function bodyOf(sample: SampleRow | undefined): string {
  return sample === undefined || sample.data.length > MAX_CURL_BODY ? '{}' : sample.data;
}

function presentSignature(signature: SignatureOptions): NonNullable<Webhook['signature']> {
  return {
    preset: signature.preset,
    credential_id: signature.credential_id,
    previous_credential_id: signature.previous_credential_id,
    tolerance_s: signature.tolerance_s,
    header: signature.header,
  };
}
