import {
  findFiles,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NodeRecord,
  type Plan,
  type PlanNode,
  renderAtEnd,
  type ShownRecord,
  stringifyJson,
} from '@millrace/engine';

/** Nodes whose output has the text that they wrote. */
const WRITERS: ReadonlySet<string> = new Set(['ai.agent', 'ai.generate']);

/**
 * The nodes whose text a visitor may read while it is written: those whose text can be the answer. What other nodes write is an author's own
 * affair, such as how a message was classified.
 * @param answer the trigger's setting; empty: the text of the final node
 */
export function liveNodesOf(plan: Plan, answer: string): readonly string[] {
  const writers = plan.root.nodes.filter(
    ({ type, writtenConfig }) => WRITERS.has(type) && isText(writtenConfig),
  );
  if (answer === '') {
    const sinks = new Set(plan.root.sinks.map(({ id }) => id));
    return writers.filter(({ id }) => sinks.has(id)).map(({ id }) => id);
  }
  const named = /^\s*\{\{\s*nodes(?:\.([\w-]+)|\["([^"\\]+)"\])\.output\.text\s*\}\}\s*$/.exec(answer);
  const only = named?.[1] ?? named?.[2];
  return writers.filter(({ id }) => id === only).map(({ id }) => id);
}

function isText({ output = 'text' }: JsonObject): boolean {
  return output === 'text';
}

/**
 * What a completed execution answers: what the trigger's setting says, else the text of the node that stopped it, else that of its last final
 * node with a text. Null for none.
 */
export function answerOf(
  plan: Plan,
  of: {
    readonly executionId: number;
    readonly triggerData: JsonValue;
    readonly records: readonly NodeRecord[];
    readonly maxBytes: number;
  },
): string | null {
  if (writtenAnswer(plan) !== '') {
    const answer = renderAtEnd(plan, chatIn(plan), of).answer ?? null;
    return typeof answer === 'string' || answer === null ? textOf(answer) : stringifyJson(answer);
  }
  const latest = new Map<string, ShownRecord>();
  for (const record of of.records) {
    if (record.status === 'success' && record.isStop === true) return textOf(record.output);
    if (record.status !== 'iteration_ended' && record.iteration === undefined)
      latest.set(record.nodeId, record);
  }
  for (const { id, kind } of plan.root.sinks.toReversed()) {
    const record = latest.get(id);
    const text = kind !== 'trigger' && record?.status === 'success' ? textOf(record.output) : null;
    if (text !== null) return text;
  }
  return null;
}

/** The ids of the files that the trigger's setting gives the visitor; whether the execution has them isn't checked. */
export function answerFilesOf(
  plan: Plan,
  of: Parameters<typeof answerOf>[1],
  most: number,
): readonly string[] {
  const { answer_files: written } = chatIn(plan).writtenConfig;
  if (typeof written !== 'string' || written.trim() === '') return [];
  const found = findFiles(renderAtEnd(plan, chatIn(plan), of).answer_files ?? null);
  return [...new Set(found.map(({ id }) => id))].slice(0, most);
}

/** The chat of a plan, which has one at most. */
export function chatIn({ triggers, trigger }: Plan): PlanNode {
  return triggers.find(({ type }) => type === 'trigger.chat') ?? trigger;
}

/** The trigger's setting `answer` as it was saved. */
export function writtenAnswer(plan: Plan): string {
  const { answer } = chatIn(plan).writtenConfig;
  return typeof answer === 'string' ? answer.trim() : '';
}

/** A text as it is; of an object, its member `text`. */
function textOf(value: JsonValue): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  return isJsonObject(value) && typeof value.text === 'string' && value.text.trim() !== ''
    ? value.text
    : null;
}
