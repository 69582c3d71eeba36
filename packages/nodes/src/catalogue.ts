import { aiNodes } from '@millrace/ai-nodes';
import { connectorNodes } from '@millrace/connectors/connectors';
import { dataNodes } from '@millrace/data-nodes';
import type { NodeDefinition, NodeRegistry } from '@millrace/engine';
import {
  triggerChat,
  triggerEmail,
  triggerForm,
  triggerKafka,
  triggerManual,
  triggerMqtt,
  triggerPoll,
  triggerPostgresql,
  triggerRedis,
  triggerRss,
  triggerSchedule,
  triggerSqs,
  triggerWebhook,
} from '@millrace/triggers';
import { chatNotify } from './nodes/chat-notify.ts';
import { coreCode } from './nodes/core-code.ts';
import { coreCrypto } from './nodes/core-crypto.ts';
import { coreData } from './nodes/core-data.ts';
import { coreDelay } from './nodes/core-delay.ts';
import { coreFail } from './nodes/core-fail.ts';
import { coreFilter } from './nodes/core-filter.ts';
import { coreForEach } from './nodes/core-for-each.ts';
import { coreIf } from './nodes/core-if.ts';
import { coreMerge } from './nodes/core-merge.ts';
import { corePlaceholder } from './nodes/core-placeholder.ts';
import { coreRepeat } from './nodes/core-repeat.ts';
import { coreSet } from './nodes/core-set.ts';
import { coreStop } from './nodes/core-stop.ts';
import { coreSwitch } from './nodes/core-switch.ts';
import { dataFeed } from './nodes/data-feed.ts';
import { dataHtml } from './nodes/data-html.ts';
import { dataMarkdown } from './nodes/data-markdown.ts';
import { dataStore } from './nodes/data-store.ts';
import { dataXml } from './nodes/data-xml.ts';
import { emailSend } from './nodes/email-send.ts';
import { fileImage } from './nodes/file-image.ts';
import { filePdfText } from './nodes/file-pdf-text.ts';
import { fileRead } from './nodes/file-read.ts';
import { fileWrite } from './nodes/file-write.ts';
import { fileZip } from './nodes/file-zip.ts';
import { flowCall } from './nodes/flow-call.ts';
import { httpRequest } from './nodes/http-request.ts';
import { httpWebhookOutput } from './nodes/http-webhook-output.ts';
import { sqlQuery } from './nodes/sql-query.ts';
import { waitApproval } from './nodes/wait-approval.ts';
import { waitCallback } from './nodes/wait-callback.ts';
import { WEBHOOK_RESPOND, webhookRespond } from './nodes/webhook-respond.ts';

export { channelLister } from './chat/channels.ts';
export { type ChatProbe, chatProbe } from './chat/probe.ts';
/** The operators of conditions, in the order the editor shows them. */
export { OPERATORS } from './conditions.ts';

export { WEBHOOK_RESPOND };

/** Every node that isn't an operation of a connector, in the order the editor and the reference show them. */
export const nodes: readonly NodeDefinition[] = [
  triggerManual,
  triggerSchedule,
  triggerWebhook,
  triggerChat,
  triggerForm,
  triggerRss,
  triggerPoll,
  triggerEmail,
  triggerRedis,
  triggerMqtt,
  triggerKafka,
  triggerPostgresql,
  triggerSqs,
  coreSet,
  coreIf,
  coreSwitch,
  coreFilter,
  coreMerge,
  coreForEach,
  coreRepeat,
  coreData,
  coreCode,
  coreCrypto,
  coreDelay,
  waitCallback,
  waitApproval,
  webhookRespond,
  flowCall,
  coreStop,
  coreFail,
  corePlaceholder,
  httpRequest,
  httpWebhookOutput,
  dataStore,
  dataHtml,
  dataMarkdown,
  dataXml,
  dataFeed,
  fileRead,
  fileWrite,
  filePdfText,
  fileImage,
  fileZip,
  chatNotify,
  emailSend,
  sqlQuery,
  ...aiNodes,
  ...dataNodes,
];

/**
 * Finds nodes by type.
 * @throws Error when two of them share a type: stored workflows would change their meaning
 */
export function createRegistry(definitions: readonly NodeDefinition[]): NodeRegistry {
  const byType = new Map(definitions.map((definition) => [definition.type, definition]));
  if (byType.size !== definitions.length) {
    const twice = definitions.find((definition) => byType.get(definition.type) !== definition);
    throw new Error(`two nodes have the type ${twice?.type ?? ''}`);
  }
  return (type) => byType.get(type);
}

/** The catalogue by type, with the operations of connectors. */
export const registry: NodeRegistry = createRegistry([...nodes, ...connectorNodes.map(({ node }) => node)]);
