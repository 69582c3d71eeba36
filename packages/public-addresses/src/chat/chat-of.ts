import { writtenAnswer } from '@millrace/chat/answer';
import type { Database } from '@millrace/database/database';
import type { CompileResult, JsonObject } from '@millrace/engine';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import { CHAT_TRIGGER } from '@millrace/service/webhooks/closed';
import { type ChatOptions, readChatOptions } from '@millrace/triggers';
import { createTriggerReader } from '../addressed-triggers.ts';

const MAX_CONFIG_BYTES = 256 * 1024;

/** The chat of a workflow. */
export interface WorkflowChat {
  /** Of its trigger. */
  readonly nodeId: string;
  readonly options: ChatOptions;
}

/** Finds the chat of a workflow's version; null if its settings can't be used. */
export type ChatOf = (workflow: StartableWorkflow, compiled: CompileResult) => Promise<WorkflowChat | null>;

export function createChats(db: Database): ChatOf {
  const chatsOf = createTriggerReader(db, {
    ...{ type: CHAT_TRIGGER, maxConfigBytes: MAX_CONFIG_BYTES },
    read: (triggers, { plan }) =>
      triggers.map(({ nodeId, config }) =>
        usable(nodeId, plan === null ? config : { ...config, answer: writtenAnswer(plan), answer_files: '' }),
      ),
  });
  return async (workflow, compiled) => (await chatsOf(workflow, compiled))[0] ?? null;
}

function usable(nodeId: string, config: JsonObject): WorkflowChat | null {
  const options = readChatOptions(config);
  return options === null || options.title.trim() === '' ? null : { nodeId, options };
}
