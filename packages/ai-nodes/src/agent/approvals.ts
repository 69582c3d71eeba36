import {
  type AiToolCall,
  isJsonObject,
  type JsonObject,
  type NodeContext,
  RenderLimitError,
  stringifyJson,
} from '@millrace/engine';
import type { McpServer } from '../mcp/config.ts';
import type { ToolApproval } from './approval-config.ts';
import type { PendingTurn, TurnDecision } from './pending.ts';
import {
  cleanText,
  MAX_SHOWN_CHARS,
  maskArguments,
  unmaskArguments,
  writeArguments,
} from './shown-arguments.ts';
import { type AgentTool, argumentsFault } from './tools.ts';

/** More calls than this, nobody judges with care. */
const MAX_ASKED = 10;
/** Of what the model says before it calls. */
const MAX_TEXT_CHARS = 2_000;
/** Of a schema that is stored with a question. */
const MAX_SCHEMA_CHARS = 20_000;

/** Whether a person has to approve a call before it is made. */
function needsApproval(
  { approval = 'never', approval_when: condition = '' }: ToolApproval,
  args: JsonObject,
  render: NodeContext['render'],
): boolean {
  if (approval !== 'when') return approval === 'always';
  try {
    const isNeeded = render(condition, args);
    return isNeeded !== false && !(typeof isNeeded === 'string' && isNeeded.trim() === 'false');
  } catch (error) {
    if (error instanceof RenderLimitError) return true;
    throw error;
  }
}

/** A call of a turn that is about to be made. */
export type PreparedCall = Omit<AiToolCall, 'id'> & {
  /** The provider's; absent for a call that has waited. */
  readonly id?: string;
  /** Its number in the question about the turn; absent if nobody has to be asked. */
  readonly asked?: number;
  /** Whether the person can change its arguments. */
  readonly editable?: boolean;
};

/**
 * Finds out which calls a person has to approve. A call that nobody can be asked about gets a problem instead, and isn't made either.
 * @param runnable how many of the calls are made at all
 */
export function prepareCalls(
  calls: readonly AiToolCall[],
  {
    tools,
    render,
    runnable,
  }: {
    readonly tools: readonly AgentTool[];
    readonly render: NodeContext['render'];
    readonly runnable: number;
  },
): readonly PreparedCall[] {
  let asked = 0;
  return calls.map((call, index): PreparedCall => {
    const tool = tools.find(({ name }) => name === call.name);
    const isMade = index < runnable && tool !== undefined && call.problem === undefined;
    if (!isMade || argumentsFault(tool, call.arguments) !== undefined) return call;
    if (!needsApproval(tool, call.arguments, render)) return call;
    const problem = unaskable(call, tool, asked);
    if (problem !== undefined) return { ...call, problem };
    asked += 1;
    return { ...call, asked, ...(tool.approval_edit === true ? { editable: true } : {}) };
  });
}

/** Why a call can't be put before a person, as a message to the model; undefined when it can. @param asked those before it */
function unaskable(call: AiToolCall, tool: AgentTool, asked: number): string | undefined {
  if (asked >= MAX_ASKED) {
    return `Not run: a person has to approve this call, and is asked about at most ${MAX_ASKED} calls in one turn. Call it again if it is still needed.`;
  }
  const { length } = writeArguments(maskArguments(call.arguments, tool.parameters));
  return length <= MAX_SHOWN_CHARS
    ? undefined
    : `Not run: a person has to approve this call, and its arguments are too long to be judged: ${length} characters, at most ${MAX_SHOWN_CHARS}. Call it again with less.`;
}

/** What a person is asked about a turn. */
export interface Question {
  /** Names of the tools. */
  readonly tools: string;
  readonly text: string;
  readonly fields: readonly JsonObject[];
}

/** Which of several calls are approved, and changed arguments, are fields named after the call's number. */
const approveField = (number: number): string => `call ${number}`;
const argumentsField = (number: number): string => `arguments ${number}`;

/** The question about the calls of a turn. It has no words of its own, because nobody knows the language of whoever decides. */
export function questionOf(
  turn: Pick<PendingTurn, 'text' | 'tool_calls'>,
  tools: readonly AgentTool[],
): Question {
  const asked = turn.tool_calls.filter((call) => call.asked !== undefined);
  const isOne = asked.length === 1;
  const parts = [cleanText(turn.text).slice(0, MAX_TEXT_CHARS).trim()];
  const fields: JsonObject[] = [];
  for (const { name, arguments: args, asked: number = 0, editable } of asked) {
    const tool = tools.find((each) => each.name === name);
    const shown = maskArguments(args, tool?.parameters);
    const text = writeArguments(shown);
    const title = isOne ? name : `${number}. ${name}`;
    parts.push(`${title}\n${text}`);
    if (!isOne) fields.push({ label: title, name: approveField(number), type: 'checkbox', value: 'on' });
    if (tool === undefined || editable !== true) continue;
    fields.push({
      ...{ label: `${title} { … }`, name: argumentsField(number), type: 'paragraph', required: true },
      // Whoever rejects the call leaves its arguments alone, whatever they have typed so far.
      ...{
        value: text,
        only_with: 'approve',
        schema: schemaFor(tool, stringifyJson(shown) === stringifyJson(args)),
      },
    });
  }
  return {
    tools: [...new Set(asked.map(({ name }) => name))].join(', '),
    text: parts.filter((part) => part !== '').join('\n\n'),
    fields,
  };
}

/** What changed arguments have to match before the decision counts; where something is masked, that is known only afterwards. */
function schemaFor(tool: AgentTool, isComplete: boolean): JsonObject {
  const schema = { ...tool.parameters, type: 'object' };
  const isUsable = isComplete && !(tool.kind === 'mcp' && !tool.isCheckable);
  return isUsable && stringifyJson(schema).length <= MAX_SCHEMA_CHARS ? schema : { type: 'object' };
}

/** What was decided about one call. */
export interface Verdict {
  readonly isApproved: boolean;
  /** The arguments to call it with. */
  readonly arguments: JsonObject;
  /** As the step shows it. */
  readonly shown: JsonObject;
  /** For the model; empty if approved. */
  readonly said: string;
}

/** What was decided about a call of the turn. */
export function verdictOn(call: PendingTurn['tool_calls'][number], decision: TurnDecision): Verdict {
  const { choice, reason, decided_by: by, decided_at: at, values } = decision;
  const number = call.asked ?? 0;
  const isApproved = choice === 'approve' && values[approveField(number)] !== false;
  const given = values[argumentsField(number)] ?? null;
  const isGiven = isApproved && call.editable === true && isJsonObject(given);
  const args = isGiven ? unmaskArguments(given, call.arguments) : call.arguments;
  const isChanged = stringifyJson(args) !== stringifyJson(call.arguments);
  const outcome = choice === 'timeout' ? 'timed_out' : isApproved ? 'approved' : 'rejected';
  return {
    isApproved,
    arguments: args as JsonObject,
    shown: {
      decision: outcome,
      ...{ decided_by: by, decided_at: at, reason },
      ...(isChanged ? { proposed: call.arguments } : {}),
    },
    said: isApproved ? '' : refusalOf(outcome, reason),
  };
}

function refusalOf(outcome: string, reason: string): string {
  if (outcome === 'timed_out')
    return 'Not run: a person has to approve this call, and nobody decided in time.';
  const why = reason === '' ? 'They gave no reason.' : `Their reason: ${reason}`;
  return `Not run: a person rejected this call. ${why}`;
}

/** The tools that ask, for test mode. Those of a server aren't known then. */
export function describeApprovals(
  tools: readonly (ToolApproval & { readonly name: string })[],
  servers: readonly McpServer[],
): readonly JsonObject[] {
  const isAsking = ({ approval = 'never' }: ToolApproval): boolean => approval !== 'never';
  return [
    ...tools.filter(isAsking).map(({ name, approval = 'never' }) => ({ tool: name, approval })),
    ...servers.filter(isAsking).map(({ name, approval = 'never', approval_tools: only = [] }) => ({
      ...{ mcp_server: name, approval },
      ...(only.length === 0 ? {} : { tools: only }),
    })),
  ];
}
