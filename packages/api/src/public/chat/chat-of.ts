import { chatIn, writtenAnswer } from '@millrace/chat/answer';
import type { Database } from '@millrace/database/database';
import { type CompileResult, type JsonObject, type Plan, parseJson, render } from '@millrace/engine';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import { CHAT_TRIGGER, triggersOfType } from '@millrace/service/webhooks/closed';
import { findVersion } from '@millrace/service/workflows/store';
import { type ChatOptions, readChatOptions } from '@millrace/triggers';

const MAX_CONFIG_BYTES = 256 * 1024;

/** The chat of a workflow. */
export interface WorkflowChat {
  /** Of its trigger. */
  readonly nodeId: string;
  readonly options: ChatOptions;
}

/** Finds the chat of a workflow's version; null if its settings can't be used. */
export type ChatOf = (workflow: StartableWorkflow, compiled: CompileResult) => Promise<WorkflowChat | null>;

/** Reads each chat once per plan. A flow that can't run has a chat as well: its executions fail, as those of its other starts do. */
export function createChats(db: Database): ChatOf {
  const ofPlans = new WeakMap<Plan, WorkflowChat | null>();
  return async ({ id, organisationId, version }, compiled) => {
    if (compiled.kind === 'invalid') {
      const row = await findVersion(db, organisationId, id, version);
      const [trigger] = row === undefined ? [] : triggersOfType(parseJson(row.flow_data), CHAT_TRIGGER);
      return trigger === undefined ? null : usable(trigger.nodeId, trigger.config);
    }
    const { plan } = compiled;
    let chat = ofPlans.get(plan);
    if (chat === undefined) {
      chat = usable(chatIn(plan).id, configOf(plan));
      ofPlans.set(plan, chat);
    }
    return chat;
  };
}

function configOf(plan: Plan): JsonObject {
  const { vars } = plan;
  const scope = { triggerData: null, executionId: 0, vars, nodeOutput: () => null };
  const config = render(chatIn(plan).config, scope, MAX_CONFIG_BYTES) as JsonObject;
  return { ...config, answer: writtenAnswer(plan) };
}

function usable(nodeId: string, config: JsonObject): WorkflowChat | null {
  const options = readChatOptions(config);
  return options === null || options.title.trim() === '' ? null : { nodeId, options };
}
