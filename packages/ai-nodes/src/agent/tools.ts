import {
  type AiTool,
  type ConfigFault,
  describeUnusableSchema,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  joinPointer,
  type NodeContext,
  validateValue,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { validatorOf } from '@millrace/node-kit/validator';
import { type Static, Type } from 'typebox';
import type { McpTool } from '../mcp/tools.ts';
import { approvalOfTool, conditionFault, renderAround } from './approval-config.ts';

const MAX_TOOLS = 64;
/** Valid in all three formats. `json` is the name under which some of them ask for a response that matches a schema. */
const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const RESERVED_NAMES = ['json'];

const common = {
  name: Type.String({
    title: 'Name',
    description: 'The name that the model calls it by: letters, digits, _ and -, at most 64.',
    default: 'look_up',
  }),
  description: Type.String({
    title: 'Description',
    description: 'What it does, when to use it and what it returns. This is all the model knows about it.',
    default: '',
    'x-multiline': true,
  }),
  parameters: Type.Unsafe<JsonObject>({
    type: 'object',
    title: 'Arguments',
    description:
      "JSON Schema of the arguments, an object. Arguments that don't match are sent back to the model.",
    default: { type: 'object', properties: {}, additionalProperties: false },
    'x-code': 'json',
    'x-json-schema': true,
  }),
};

const nodeTool = Type.Object(
  {
    kind: Type.Enum(['node'], {
      type: 'string',
      title: 'Type',
      description: 'A node of the catalogue.',
      default: 'node',
    }),
    ...common,
    type: Type.String({
      title: 'Node',
      description:
        "Node type, such as http.request. Triggers, loops, agents and nodes that wait can't be tools.",
      default: 'http.request',
    }),
    config: Type.Unsafe<JsonObject>({
      type: 'object',
      title: 'Settings',
      description:
        'The settings of that node. {{args.name}} stands for an argument; other templates work as usual.',
      default: {},
      'x-node-config': 'type',
    }),
    ...approvalOfTool,
  },
  { additionalProperties: false },
);

const workflowTool = Type.Object(
  {
    kind: Type.Enum(['workflow'], {
      type: 'string',
      title: 'Type',
      description: 'A workflow of this organisation. The arguments become its trigger data.',
      default: 'workflow',
    }),
    ...common,
    workflow_id: Type.Integer({
      'x-workflow': true,
      title: 'Workflow',
      description: 'ID of the workflow. The node waits for it to finish.',
      minimum: 0,
      default: 0,
      'x-filled': true,
    }),
    ...approvalOfTool,
  },
  { additionalProperties: false },
);

export const toolsProperty = Type.Array(Type.Union([nodeTool, workflowTool]), {
  'x-tools': true,
  maxItems: MAX_TOOLS,
  title: 'Tools',
  description:
    'The nodes and workflows that the model can call. They run one after the other, in the order requested.',
  default: [],
});

export type Tool = Static<typeof toolsProperty>[number];

const oneTool = validatorOf(toolsProperty.items);

/**
 * Prepares the tools of an unrendered config for a model. Only the settings of nodes and conditions of approvals stay unrendered: their
 * templates are rendered with each call's arguments.
 * @returns why, when they can't be used
 */
export function readTools(value: JsonValue, render: NodeContext['render']): readonly Tool[] | Message {
  if (!isJsonArray(value)) return message('nodes.tools_not_list');
  if (value.length > MAX_TOOLS) return message('nodes.too_many_tools', { max: MAX_TOOLS });
  const rendered = value.map((tool) => renderAround(tool, render));
  const tools = rendered.filter((tool) => oneTool().Check(tool));
  if (tools.length < rendered.length) {
    return message('nodes.wrong_tool', { index: rendered.findIndex((tool) => !oneTool().Check(tool)) });
  }
  const [fault = unusableTool(tools)] = findToolFaults({ tools });
  return fault === undefined
    ? tools
    : message('nodes.wrong_tool_setting', {
        path: `config${fault.pointer.replaceAll('/', '.')}`,
        fault: fault.message,
      });
}

/** Before a run the marks of the properties (`x-filled`, `x-json-schema`) catch this; the results of templates are checked here. */
function unusableTool(tools: readonly JsonValue[]): ConfigFault | undefined {
  for (const [index, tool] of tools.entries()) {
    if (!isJsonObject(tool)) continue;
    if (tool.workflow_id === 0)
      return { pointer: `/tools/${index}/workflow_id`, message: message('flow.no_workflow') };
    const unusable = describeUnusableSchema(tool.parameters ?? null);
    if (unusable !== null) return { pointer: `/tools/${index}/parameters`, message: unusable };
  }
  return undefined;
}

/** Faults of tools that match their schema. */
export function findToolFaults({ tools }: JsonObject): readonly ConfigFault[] {
  if (!isJsonArray(tools ?? null)) return [];
  const seen = new Set<string>();
  return (tools as readonly JsonValue[]).flatMap((tool, index) => {
    if (!isJsonObject(tool)) return [];
    const at = (member: string): string => joinPointer(`/tools/${index}`, member);
    const { name, parameters, type } = tool;
    const faults: ConfigFault[] = [];
    if (typeof name === 'string' && !name.includes('{{')) {
      const fault = nameFault(name, seen);
      if (fault !== null) faults.push({ pointer: at('name'), message: fault });
      seen.add(name);
    }
    const unnamed = conditionFault(tool);
    if (unnamed !== null) faults.push({ pointer: at('approval_when'), message: unnamed });
    if (type === 'ai.agent') faults.push({ pointer: at('type'), message: message('nodes.agent_in_agent') });
    if (isJsonObject(parameters ?? null)) {
      const { type: taken } = parameters as JsonObject;
      if (taken !== 'object' && taken !== undefined)
        faults.push({ pointer: at('parameters'), message: message('nodes.arguments_not_object') });
    }
    return faults;
  });
}

function nameFault(name: string, seen: ReadonlySet<string>): Message | null {
  if (!TOOL_NAME.test(name)) return message('nodes.wrong_tool_name');
  if (RESERVED_NAMES.includes(name)) return message('nodes.reserved_tool_name', { name });
  return seen.has(name) ? message('nodes.duplicate_tool_name') : null;
}

/** A tool that the model can call: of the config, or of a server. */
export type AgentTool = Tool | McpTool;

/** The first name that two tools have. */
export function nameTaken(tools: readonly AgentTool[]): string | undefined {
  const names = tools.map(({ name }) => name);
  return names.find((name, index) => names.indexOf(name) !== index);
}

/** The tools as described to a model. */
export function describeTools(tools: readonly AgentTool[]): readonly AiTool[] {
  return tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters: { type: 'object', ...parameters },
  }));
}

/** Why arguments are invalid, as a message to the model; undefined when they are valid. */
export function argumentsFault(tool: AgentTool, given: JsonObject): string | undefined {
  // What the server's schema refers to isn't known here; the server checks its arguments itself.
  if (tool.kind === 'mcp' && !tool.isCheckable) return undefined;
  const problems = validateValue({ type: 'object', ...tool.parameters }, given);
  if (problems.length === 0) return undefined;
  const faults = problems.map(
    ({ pointer, message: fault }) => `${pointer === '' ? 'they' : pointer} ${inEnglish(fault)}`,
  );
  return `The arguments do not fit: ${faults.join('; ')}. Call it again with arguments that do.`;
}
