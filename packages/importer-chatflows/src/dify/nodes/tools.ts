import { isJsonObject, type JsonObject, type JsonValue, own } from '@millrace/engine';
import { extend, inUrl, template } from '@millrace/importer-kit/refs';
import { Unmappable } from '@millrace/importer-kit/unmappable';
import { arrayOf, asText, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import type { DirectStep, Made, Make } from '../../direct/maker.ts';
import { modelSettings } from '../../direct/model.ts';
import { anyValue, namesIn, selected, textValue } from '../values.ts';
import { withError } from './errors.ts';
import { memoryOf } from './models.ts';

/** Tools, and agents that choose among them. */
export const TOOLS: { readonly [type: string]: Make } = {
  tool: withError(useTool),
  agent: withError(runAgent),
};

type Config = { [name: string]: JsonValue };

const AUTH = { type: 'credential', credential_id: 0 };

/** A tool as a node: its settings with `argument(name)` in place of what it is called with. */
interface ToolNode {
  readonly type: string;
  readonly config: (argument: (name: string, otherwise?: JsonValue) => JsonValue) => Config;
  /** The inside of a template for its text, below the node's output. */
  readonly text: readonly string[];
  readonly needsCredential: boolean;
}

/** Built-in tools that are a request, written from the services' public references and not tried against them. */
const KNOWN: { readonly [tool: string]: ToolNode } = {
  jina_reader: {
    type: 'http.request',
    config: (argument) => ({ url: `https://r.jina.ai/${asText(argument('url'))}`, response_type: 'text' }),
    text: ['body'],
    needsCredential: false,
  },
  jina_search: {
    type: 'http.request',
    config: (argument) => ({
      url: `https://s.jina.ai/${inUrl(asText(argument('query')))}`,
      response_type: 'text',
      auth: AUTH,
    }),
    text: ['body'],
    needsCredential: true,
  },
  tavily_search: {
    type: 'http.request',
    config: (argument) => ({
      method: 'POST',
      url: 'https://api.tavily.com/search',
      body: {
        query: argument('query'),
        search_depth: argument('search_depth', 'basic'),
        max_results: argument('max_results', 5),
      },
      auth: AUTH,
    }),
    text: ['body'],
    needsCredential: true,
  },
  google_search: {
    type: 'http.request',
    config: (argument) => ({
      url: 'https://serpapi.com/search.json',
      query: { engine: 'google', q: argument('query') },
      auth: AUTH,
    }),
    text: ['body'],
    needsCredential: true,
  },
  serper: {
    type: 'http.request',
    config: (argument) => ({
      method: 'POST',
      url: 'https://google.serper.dev/search',
      body: { q: argument('query') },
      auth: AUTH,
    }),
    text: ['body'],
    needsCredential: true,
  },
  wikipedia_search: {
    type: 'http.request',
    config: (argument) => ({
      url: 'https://en.wikipedia.org/w/api.php',
      query: { action: 'query', list: 'search', format: 'json', srsearch: argument('query') },
    }),
    text: ['body'],
    needsCredential: false,
  },
  webscraper: {
    type: 'http.request',
    config: (argument) => ({ url: argument('url'), response_type: 'text' }),
    text: ['body'],
    needsCredential: false,
  },
};

/** Tools whose result a template has. */
const COMPUTED: { readonly [tool: string]: (step: DirectStep) => JsonValue } = {
  current_time: (step) =>
    `{{now | date: ${JSON.stringify(dateFormat(asText(settingsOf(step).format) || '%Y-%m-%d %H:%M:%S'))}, ${JSON.stringify(asText(settingsOf(step).timezone) || 'UTC')}}}`,
};

const DATE_PARTS: { readonly [part: string]: string } = {
  Y: 'yyyy',
  y: 'yy',
  m: 'MM',
  d: 'dd',
  H: 'HH',
  I: 'hh',
  M: 'mm',
  S: 'ss',
  p: 'a',
  B: 'MMMM',
  b: 'MMM',
  A: 'EEEE',
  a: 'EEE',
  z: 'xx',
};

/** A format of strftime with the letters of templates. */
function dateFormat(format: string): string {
  return format.replace(
    /%([A-Za-z])|([A-Za-z]+)/g,
    (_found, part: string | undefined, text: string | undefined) =>
      part === undefined ? `'${text ?? ''}'` : (DATE_PARTS[part] ?? ''),
  );
}

/** The settings that are the same for each call. */
function settingsOf(step: DirectStep): JsonObject {
  const settings = objectOf(step.data.tool_configurations);
  return Object.fromEntries(
    Object.entries(settings).map(([name, each]) => [
      name,
      isJsonObject(each ?? null) ? (objectOf(each).value ?? null) : (each ?? null),
    ]),
  );
}

/** An argument: text with references, a selector or a constant. */
function argumentOf(step: DirectStep, name: string): JsonValue | undefined {
  const given = objectOf(step.data.tool_parameters)[name];
  if (given === undefined) return settingsOf(step)[name] ?? undefined;
  const argument = objectOf(given);
  if (argument.type === 'variable' && namesIn(argument.value) !== null)
    return template(selected(step, argument.value));
  return anyValue(step, argument.value);
}

function useTool(step: DirectStep): Made {
  const { data } = step;
  const name = textOf(data.tool_name) ?? '';
  if (data.provider_type === 'workflow') return callWorkflow(step);
  const computed = own(COMPUTED, name);
  if (computed !== undefined) {
    const id = step.add('core.set', { values: { text: computed(step) } });
    return step.result(([member]) => (member === 'text' ? `nodes.${id}.output.text` : null));
  }
  const known = data.provider_type !== 'api' && Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  if (known === undefined) throw new Unmappable(message('import.unknown_tool', { tool: name }));
  step.approximate(message('import.called_by_hand'));
  if (known.needsCredential) step.approximate(message('import.choose_credential'));
  const called = step.add(
    known.type,
    known.config((argument, otherwise) => argumentOf(step, argument) ?? otherwise ?? ''),
  );
  const main = `nodes.${called}.output`;
  const id =
    name === 'webscraper'
      ? step.add('data.html', { operation: 'text', html: template(`${main}.body`) }, { suffix: 'text' })
      : called;
  const text = name === 'webscraper' ? `nodes.${id}.output.text` : extend(main, known.text);
  return step.result(([member = '', ...rest]) => {
    if (member === 'text') return name === 'webscraper' ? text : `${text} | string`;
    if (member === 'json') return extend(text, rest);
    return member === 'files' ? `"[]" | parse_json` : null;
  });
}

function callWorkflow(step: DirectStep): Made {
  step.approximate(message('import.choose_workflow'));
  const names = Object.keys(objectOf(step.data.tool_parameters));
  const id = step.add('flow.call', {
    workflow_id: 0,
    input: Object.fromEntries(names.map((name) => [name, argumentOf(step, name) ?? null])),
  });
  return step.result(([member = '', ...rest]) => {
    if (member === 'text') return `nodes.${id}.output | json`;
    // The outputs of the workflow are the only item of the list.
    if (member === 'json') return extend(`nodes.${id}.output`, rest[0] === '0' ? rest.slice(1) : rest);
    return extend(`nodes.${id}.output`, [member, ...rest]);
  });
}

function runAgent(step: DirectStep): Made {
  const given = objectOf(step.data.agent_parameters);
  const at = (name: string) => objectOf(given[name]).value;
  const model = objectOf(at('model'));
  const query = textOf(at('query'));
  if (query === null || Object.keys(model).length === 0)
    throw new Unmappable(
      message('import.unknown_operation', { operation: textOf(step.data.agent_strategy_name) ?? '' }),
    );
  const tools = arrayOf(at('tools'))
    .map(objectOf)
    .filter(({ enabled }) => enabled !== false)
    .map((tool) => agentTool(step, tool));
  const most = Number(at('maximum_iterations') ?? 10);
  const instruction = at('instruction');
  const id = step.add('ai.agent', {
    ...modelSettings(step, textOf(model.model) ?? textOf(model.name), objectOf(model.completion_params)),
    ...(textOf(instruction) === null ? {} : { system: textValue(step, instruction) }),
    prompt: textValue(step, query),
    ...memoryOf(step),
    ...(tools.length === 0 ? {} : { tools }),
    ...(Number.isInteger(most) && most >= 1 && most <= 50 ? { max_steps: most } : {}),
  });
  return step.result(([name = '', ...rest]) => {
    if (name === 'text') return `nodes.${id}.output.text`;
    if (name === 'usage') return extend(`nodes.${id}.output.usage`, rest);
    return name === 'json' ? extend(`nodes.${id}.output.steps`, rest) : null;
  });
}

/** A tool of an agent, with what the model fills in. */
function agentTool(step: DirectStep, tool: JsonObject): Config {
  const name = textOf(tool.tool_name) ?? '';
  const settings = objectOf(tool.settings);
  const parameters = arrayOf(tool.schemas)
    .map(objectOf)
    .filter(({ form }) => form === 'llm');
  const description =
    textOf(objectOf(tool.extra).description) ??
    textOf(tool.tool_description) ??
    textOf(tool.tool_label) ??
    name;
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map((each) => [
        textOf(each.name) ?? 'query',
        {
          type: each.type === 'number' || each.type === 'boolean' ? each.type : 'string',
          ...(textOf(each.llm_description) === null ? {} : { description: asText(each.llm_description) }),
        },
      ]),
    ),
    required: parameters
      .filter(({ required }) => required === true)
      .map((each) => textOf(each.name) ?? 'query'),
  };
  const common = {
    name: name.replace(/[^\w-]/g, '_').slice(0, 64) || 'tool',
    description,
    parameters: schema,
  };
  if (tool.provider_type === 'workflow' || tool.type === 'workflow') {
    step.approximate(message('import.choose_workflow'));
    return { kind: 'workflow', ...common, workflow_id: 0 };
  }
  if (name === 'current_time')
    return { kind: 'node', ...common, type: 'core.set', config: { values: { time: '{{now}}' } } };
  const known = own(KNOWN, name);
  if (known === undefined) throw new Unmappable(message('import.unknown_tool', { tool: name }));
  step.approximate(message('import.called_by_hand'));
  if (known.needsCredential) step.approximate(message('import.choose_credential'));
  const isFilled = (argument: string) => parameters.some((each) => each.name === argument);
  const config = known.config((argument, otherwise) =>
    isFilled(argument)
      ? `{{args.${argument}}}`
      : (objectOf(settings[argument]).value ?? settings[argument] ?? otherwise ?? ''),
  );
  return { kind: 'node', ...common, type: known.type, config };
}
