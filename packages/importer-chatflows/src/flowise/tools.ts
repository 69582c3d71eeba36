import { type JsonObject, type JsonValue, own } from '@millrace/engine';
import { Unmappable } from '@millrace/importer-kit/unmappable';
import { arrayOf, asText, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import type { DirectStep } from '../direct/maker.ts';
import { pairsOf, plainText, textValue } from './text.ts';

type Config = { [name: string]: JsonValue };
const AUTH = { type: 'credential', credential_id: 0 };

/** A tool as a node: its settings with `argument(name)` in place of what it is called with. */
interface ToolNode {
  readonly type: string;
  readonly description: string;
  readonly arguments: readonly string[];
  readonly needsCredential?: true;
  readonly config: (argument: (name: string) => JsonValue, settings: JsonObject) => Config;
  /** Where its result is in the output. */
  readonly result: string;
}

const search = (url: string, method: 'GET' | 'POST', name: string): ToolNode => ({
  type: 'http.request',
  description: 'Searches the web.',
  arguments: ['input'],
  needsCredential: true,
  config: (argument) => ({
    method,
    url,
    [method === 'GET' ? 'query' : 'body']: { [name]: argument('input') },
    auth: AUTH,
  }),
  result: 'body',
});

/** Tools that are a node here, written from the services' public references and not tried against them. */
const TOOLS: { readonly [name: string]: ToolNode } = {
  currentDateTime: {
    type: 'core.set',
    description: 'Tells the current date and time.',
    arguments: [],
    config: () => ({ values: { time: '{{now}}' } }),
    result: 'time',
  },
  calculator: {
    type: 'core.code',
    description: 'Computes an arithmetic expression.',
    arguments: ['input'],
    config: (argument) => ({ code: CALCULATOR, input: { expression: argument('input') } }),
    result: 'result',
  },
  serpAPI: search('https://serpapi.com/search.json', 'GET', 'q'),
  serper: search('https://google.serper.dev/search', 'POST', 'q'),
  tavilyAPI: search('https://api.tavily.com/search', 'POST', 'query'),
  googleCustomSearch: search('https://www.googleapis.com/customsearch/v1', 'GET', 'q'),
  braveSearchAPI: search('https://api.search.brave.com/res/v1/web/search', 'GET', 'q'),
  exaSearch: search('https://api.exa.ai/search', 'POST', 'query'),
  searXNG: {
    type: 'http.request',
    description: 'Searches the web.',
    arguments: ['input'],
    config: (argument, settings) => ({
      url: `${asText(settings.apiBase).replace(/\/$/, '')}/search`,
      query: { q: argument('input'), format: 'json' },
    }),
    result: 'body',
  },
  requestsGet: {
    type: 'http.request',
    description: 'Reads a URL.',
    arguments: [],
    config: (_argument, settings) => ({ url: asText(settings.requestsGetUrl ?? settings.url) }),
    result: 'body',
  },
  requestsPost: {
    type: 'http.request',
    description: 'Sends data to a URL.',
    arguments: ['body'],
    config: (argument, settings) => ({
      method: 'POST',
      url: asText(settings.requestsPostUrl ?? settings.url),
      body: argument('body'),
    }),
    result: 'body',
  },
  webScraperTool: {
    type: 'http.request',
    description: 'Reads a page.',
    arguments: ['input'],
    config: (argument) => ({ url: argument('input'), response_type: 'text' }),
    result: 'body',
  },
};

/** Sums, products, powers and parentheses; nothing is evaluated as code. */
const CALCULATOR = `const tokens = String(input.expression).replaceAll('**', '^').match(/\\d+(?:\\.\\d+)?|[-+*/%^()]/g) ?? [];
let at = 0;
const unit = () => {
  const token = tokens[at++];
  if (token === '(') { const value = total(); at += 1; return value; }
  return token === '-' ? -raised() : token === '+' ? raised() : Number(token);
};
const raised = () => { const base = unit(); if (tokens[at] !== '^') return base; at += 1; return base ** raised(); };
const product = () => {
  let value = raised();
  while (['*', '/', '%'].includes(tokens[at])) { const sign = tokens[at++], next = raised(); value = sign === '*' ? value * next : sign === '/' ? value / next : value % next; }
  return value;
};
const total = () => { let value = product(); while (tokens[at] === '+' || tokens[at] === '-') { const sign = tokens[at++], next = product(); value = sign === '+' ? value + next : value - next; } return value; };
return total();`;

/** @throws Unmappable */
function known(step: DirectStep, name: string): ToolNode {
  const tool = own(TOOLS, name);
  if (tool === undefined) throw new Unmappable(message('import.unknown_tool', { tool: name }));
  if (tool.type === 'http.request') step.approximate(message('import.called_by_hand'));
  if (tool.needsCredential === true) step.approximate(message('import.choose_credential'));
  return tool;
}

/** A node that calls one tool with arguments that are set. */
export function toolCall(step: DirectStep): { readonly id: string; readonly path: string } {
  const { data } = step;
  const name = textOf(data.toolAgentflowSelectedTool) ?? textOf(data.selectedTool) ?? '';
  const given = pairsOf(step, data.toolInputArgs, ['inputArgName', 'inputArgValue']);
  if (name === 'chatflowTool' || name === 'agentflowTool') {
    step.approximate(message('import.choose_workflow'));
    const id = step.add('flow.call', {
      workflow_id: 0,
      input: { question: given.input ?? '{{trigger.data.question}}' },
    });
    return { id: `nodes.${id}.output.text`, path: `nodes.${id}.output.text` };
  }
  const tool = known(step, name);
  const settings = objectOf(data.toolAgentflowSelectedToolConfig);
  const id = step.add(
    tool.type,
    tool.config((argument) => given[argument] ?? '', settings),
  );
  const path = `nodes.${id}.output.${tool.result}`;
  return { id: path, path };
}

/** The tools that an agent of a flow of agents may call. */
export function agentTools(step: DirectStep): readonly Config[] {
  const { data } = step;
  if (
    arrayOf(data.agentKnowledgeDocumentStores).length > 0 ||
    arrayOf(data.agentKnowledgeVSEmbeddings).length > 0
  )
    throw new Unmappable(message('import.no_documents'));
  if (
    Object.entries(data).some(
      ([name, value]) =>
        name.startsWith('agentToolsBuiltIn') &&
        arrayOf(typeof value === 'string' && value.startsWith('[') && value !== '[]' ? [value] : value)
          .length > 0,
    )
  )
    step.approximate(message('import.own_tools_left_out'));
  return arrayOf(data.agentTools)
    .map(objectOf)
    .map((each) =>
      toolFor(
        step,
        textOf(each.agentSelectedTool) ?? '',
        objectOf(each.agentSelectedToolConfig),
        each.agentSelectedToolRequiresHumanInput === true,
      ),
    );
}

/** A tool of an agent, with what the model fills in. */
export function toolFor(step: DirectStep, name: string, settings: JsonObject, needsPerson = false): Config {
  if (needsPerson) throw new Unmappable(message('import.wait_for_call'));
  if (name === 'chatflowTool' || name === 'agentflowTool' || name === 'ChatflowTool') {
    step.approximate(message('import.choose_workflow'));
    return {
      kind: 'workflow',
      name: toolName(textOf(settings.name) ?? 'workflow'),
      description: plainText(textOf(settings.description) ?? 'Asks another workflow.'),
      parameters: parametersOf(['question']),
      workflow_id: 0,
    };
  }
  const tool = known(step, name);
  return {
    kind: 'node',
    name: toolName(name),
    description: plainText(
      textOf(settings.description) ?? textOf(settings.requestsGetDescription) ?? tool.description,
    ),
    parameters: parametersOf(tool.arguments),
    type: tool.type,
    config: tool.config(
      (argument) => `{{args.${argument}}}`,
      Object.fromEntries(
        Object.entries(settings).map(([key, value]) => [
          key,
          typeof value === 'string' ? textValue(step, value) : (value ?? null),
        ]),
      ),
    ),
  };
}

function toolName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64) || 'tool';
}

function parametersOf(names: readonly string[]): JsonValue {
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: [...names],
  };
}
