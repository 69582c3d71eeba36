import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { foreignPartOf } from '@millrace/importer-expressions/expressions';
import { shimFor } from '@millrace/importer-expressions/shim';
import { literal } from '@millrace/importer-kit/refs';
import { SERVICES } from '@millrace/importer-services/services';
import { message } from '@millrace/messages';
import type { Handler, Handlers } from '../handler.ts';
import { jsonParam } from '../json-text.ts';
import { arrayOf, asText, type N8nNode, objectOf, textOf } from '../read.ts';
import { Step, type ToolArgument, Unmappable } from '../step.ts';
import { requestConfig } from './http.ts';
import { schemaFor } from './json-schema.ts';
import { isServer, mcpServers } from './mcp.ts';
import { AUTH, partParam } from './parts.ts';
import { serviceCall } from './service-call.ts';
import { sheetRequest } from './sheets.ts';
import { vectorTool } from './vectors.ts';

type Tool = { readonly [name: string]: JsonValue };

/** Settings of an agent: nothing if it has no tools. */
interface AgentTools {
  readonly [setting: string]: JsonValue;
}

/** The tools that are connected to an agent. One that can't be made is reported, and keeps the agent from being activated. */
export function agentTools(step: Step, callable: Handlers): AgentTools {
  const parts = step.compiler.partsOf(step.node.name, 'ai_tool');
  const [own, others] = [parts.filter(isServer), parts.filter((node) => !isServer(node))];
  const tools = nodeTools(step, others, callable);
  return {
    ...(tools.length === 0 ? {} : { tools }),
    ...(own.length === 0 ? {} : { mcp_servers: mcpServers(step, own) }),
  };
}

function nodeTools(step: Step, nodes: readonly N8nNode[], callable: Handlers): JsonValue[] {
  const names = new Set<string>();
  return nodes.flatMap((node) => {
    const at = { node: node.name, type: node.type };
    step.compiler.report.mapped(at);
    try {
      const tool = toolOf(step, node, callable);
      if (tool === null) return [];
      const name = freeName(names, asText(tool.name));
      names.add(name);
      return [{ ...tool, name } as JsonValue];
    } catch (error) {
      if (!(error instanceof Unmappable)) throw error;
      step.compiler.report.dropped(at, error.reason);
      return [brokenTool(node, freeName(names, toolName(node.name)))];
    }
  });
}

/** A tool that says what is missing, and keeps the agent from being activated. */
function brokenTool(node: N8nNode, name: string): JsonValue {
  return {
    kind: 'node',
    name,
    description: node.name,
    parameters: noArguments(),
    type: 'core.placeholder',
    config: { product: 'n8n', type: node.type, name: node.name },
  };
}

function toolName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60);
  return /^[A-Za-z_]/.test(plain) && plain !== 'json' ? plain : `tool_${plain}`.slice(0, 64);
}

function freeName(taken: ReadonlySet<string>, wanted: string): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted.slice(0, 58)}_${number}`;
  return name;
}

function noArguments(): JsonValue {
  return { type: 'object', properties: {}, additionalProperties: false };
}

function schemaOf(args: readonly ToolArgument[]): JsonValue {
  const types: { readonly [type: string]: string } = { number: 'number', boolean: 'boolean' };
  return {
    type: 'object',
    properties: Object.fromEntries(
      args.map(({ name, description, type }) => [
        name,
        { ...(type === 'json' ? {} : { type: types[type] ?? 'string' }), description: literal(description) },
      ]),
    ),
    required: args.map(({ name }) => name),
    additionalProperties: false,
  };
}

function toolOf(step: Step, node: N8nNode, callable: Handlers): Tool | null {
  const description = asText(
    partParam(step, node, 'description') ?? partParam(step, node, 'toolDescription') ?? node.name,
  );
  const name = toolName(textOf(node.parameters.name) ?? textOf(node.parameters.toolName) ?? node.name);
  const report = (what: Parameters<Step['approximate']>[0]) => step.compiler.approximate(node, what);
  const one = (type: string, config: JsonValue, parameters: JsonValue): Tool => ({
    kind: 'node',
    name,
    description,
    parameters,
    type,
    config,
  });
  const query = schemaOf([{ name: 'query', description: 'What to look for.', type: 'string' }]);
  switch (node.kind) {
    case 'toolWorkflow':
      report(message('import.choose_workflow'));
      return {
        kind: 'workflow',
        name,
        description,
        parameters: workflowArguments(step, node),
        workflow_id: 0,
      };
    case 'toolCode':
      return codeTool(node, one);
    case 'toolHttpRequest':
      return oldHttpTool(step, node, one);
    case 'toolCalculator':
      return one(
        'core.code',
        { code: CALCULATOR, input: { expression: '{{args.expression}}' } },
        schemaOf([
          { name: 'expression', description: 'Numbers, + - * / % ^ and parentheses.', type: 'string' },
        ]),
      );
    case 'toolWikipedia':
      return one(
        'http.request',
        {
          url: 'https://en.wikipedia.org/w/api.php',
          query: { action: 'query', list: 'search', format: 'json', srsearch: '{{args.query}}' },
        },
        query,
      );
    case 'toolSerpApi':
      report(message('import.choose_credential'));
      return one(
        'http.request',
        {
          url: 'https://serpapi.com/search.json',
          query: { q: '{{args.query}}' },
          auth: AUTH,
        },
        query,
      );
    case 'toolThink':
      report(message('import.not_needed'));
      return null;
    default: {
      const search = vectorTool(step, node);
      return search === null ? nodeTool(step, node, one, callable) : one(search.type, search.config, query);
    }
  }
}

/** What the model is asked for when it calls a workflow. What n8n itself gives the workflow besides that is reported. */
function workflowArguments(step: Step, node: N8nNode): JsonValue {
  const inputs = objectOf(node.parameters.workflowInputs);
  const values = objectOf(inputs.value);
  const fields = arrayOf(inputs.schema)
    .map(objectOf)
    .filter(({ removed }) => removed !== true);
  const isFixed = ({ id }: JsonObject) => {
    const value = values[asText(id)];
    return value !== undefined && value !== null && value !== '' && !asText(value).includes('$fromAI');
  };
  const fixed = [
    ...fields.filter(isFixed).map(({ id }) => asText(id)),
    ...arrayOf(objectOf(node.parameters.fields).values).map((each) => asText(objectOf(each).name)),
  ];
  if (fixed.length > 0)
    step.compiler.approximate(node, message('import.tool_inputs_left_out', { names: fixed.join(', ') }));
  const own = ownSchema(step, node);
  if (own !== null) return own;
  if (fields.length === 0) return schemaOf([{ name: 'query', description: '', type: 'string' }]);
  return schemaOf(fields.filter((field) => !isFixed(field)).map((field) => argumentFor(step, field, values)));
}

/** The schema of the arguments of earlier versions, if there is one. */
function ownSchema(step: Step, { parameters }: N8nNode): JsonValue | null {
  if (parameters.specifyInputSchema !== true) return null;
  const isExample = (textOf(parameters.schemaType) ?? 'fromJson') === 'fromJson';
  const given = jsonParam(step, isExample ? parameters.jsonSchemaExample : parameters.inputSchema);
  if (given === undefined || !isJsonObject(given)) return null;
  return isExample ? schemaFor(given) : given;
}

/** An argument that has the name by which the workflow reads it. */
function argumentFor(step: Step, { id, displayName, type }: JsonObject, values: JsonObject): ToolArgument {
  const written = new Step(step.compiler, step.node, {
    scope: step.scope,
    input: step.input,
    after: step.after,
    extras: {},
  });
  written.toolArguments = [];
  const given = values[asText(id)];
  const call = typeof given === 'string' ? FROM_AI.exec(given)?.[0] : undefined;
  if (call !== undefined) written.expression(call);
  const [asked] = written.toolArguments;
  return {
    name: asText(id ?? 'query').replace(/\W/g, '_'),
    description: asked?.description || asText(displayName),
    type: asked?.type ?? asText(type ?? 'string'),
  };
}

/** The first thing that an expression asks the model for. */
const FROM_AI = /\$fromAI\((?:[^()'"`]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)*\)/;

type Make = (type: string, config: JsonValue, parameters: JsonValue) => Tool;

function codeTool(node: N8nNode, make: Make): Tool {
  const code = textOf(node.parameters.jsCode);
  const foreign = code === null ? 'python' : foreignPartOf(code);
  if (code === null || foreign !== null)
    throw new Unmappable(message('import.only_in_original', { part: foreign ?? '' }));
  const body = `const query = input.query;\nreturn await (async () => {\n${code}\n})();`;
  const parameters = schemaOf([{ name: 'query', description: '', type: 'string' }]);
  return make(
    'core.code',
    { code: literal(`${shimFor(code)}\n\n${body}`), input: { query: '{{args.query}}' } },
    parameters,
  );
}

/** The older HTTP tool: `{name}` in its texts stands for an argument. */
function oldHttpTool(step: Step, node: N8nNode, make: Make): Tool {
  const args: ToolArgument[] = arrayOf(objectOf(node.parameters.placeholderDefinitions).values)
    .map(objectOf)
    .map((each) => ({
      name: asText(each.name).replace(/\W/g, '_'),
      description: asText(each.description),
      type: asText(each.type ?? 'string'),
    }));
  const fill = (value: JsonValue): JsonValue =>
    typeof value === 'string'
      ? value.replace(/(?<!\{)\{(\w+)\}(?!\})/g, (_found, name: string) => {
          if (!args.some((each) => each.name === name)) args.push({ name, description: '', type: 'string' });
          return `{{args.${name}}}`;
        })
      : value;
  const list = (path: string): { [name: string]: JsonValue } =>
    Object.fromEntries(
      arrayOf(objectOf(node.parameters[path]).values).map((each) => {
        const { name, value, valueProvider } = objectOf(each);
        const key = asText(name);
        if (valueProvider === 'modelRequired' || valueProvider === 'modelOptional')
          return [key, fill(`{${key.replace(/\W/g, '_')}}`)];
        return [key, fill(step.value(value ?? ''))];
      }),
    );
  const given = textOf(node.parameters.jsonBody);
  const parsed = given === null ? undefined : fill(step.value(given));
  const config: { [name: string]: JsonValue } = {
    method: textOf(node.parameters.method) ?? 'GET',
    url: fill(step.value(node.parameters.url ?? '')),
    headers: node.parameters.sendHeaders === true ? list('parametersHeaders') : {},
    query: node.parameters.sendQuery === true ? list('parametersQuery') : {},
  };
  if (node.parameters.sendBody === true) {
    config.body = parsed ?? list('parametersBody');
    if (parsed !== undefined) config.body_type = 'text';
  }
  if (node.parameters.authentication !== undefined && node.parameters.authentication !== 'none') {
    config.auth = AUTH;
    step.compiler.approximate(node, message('import.choose_credential'));
  }
  return make('http.request', config, schemaOf(args));
}

/** A node used as a tool: its settings, with what the model says in place of `$fromAI`. */
function nodeTool(step: Step, node: N8nNode, make: Make, callable: Handlers): Tool {
  const kind = node.kind.replace(/Tool$/, '');
  const inner = new Step(
    step.compiler,
    { ...node, kind },
    { scope: step.scope, input: step.input, after: step.after, extras: {} },
  );
  inner.toolArguments = [];
  if (kind === 'httpRequest') {
    const config = requestConfig(inner);
    return computedBefore(step, inner, make('http.request', config, schemaOf(inner.toolArguments)));
  }
  if (kind === 'googleSheets') {
    const config = sheetRequest(inner);
    return computedBefore(step, inner, make('http.request', config, schemaOf(inner.toolArguments)));
  }
  const mail = kind === 'gmail' ? mailTool(inner) : null;
  if (mail !== null) {
    step.compiler.approximate(node, message('import.choose_credential'));
    return computedBefore(step, inner, make(mail.type, mail.config, schemaOf(inner.toolArguments)));
  }
  const service = Object.hasOwn(SERVICES, kind) ? SERVICES[kind] : undefined;
  if (service === undefined || SPECIAL.has(kind)) {
    const handler = Object.hasOwn(callable, kind) ? callable[kind] : undefined;
    if (handler === undefined || handler.takes !== 'item')
      throw new Unmappable(message('import.unknown_node'));
    return handledTool(step, inner, make, handler);
  }
  const { config } = serviceCall(inner, service);
  step.compiler.approximate(node, message('import.called_by_hand'));
  step.compiler.approximate(node, message('import.choose_credential'));
  return computedBefore(step, inner, make('http.request', config, schemaOf(inner.toolArguments)));
}

/** A mail that Gmail sends or keeps as a draft; the connector writes its source. Null for any other operation. */
function mailTool(
  step: Step,
): { readonly type: string; readonly config: { [name: string]: JsonValue } } | null {
  const resource = step.text('resource', 'message');
  const operation = step.text('operation', resource === 'draft' ? 'create' : 'send');
  const isDraft = resource === 'draft' && operation === 'create';
  if (!isDraft && !(resource === 'message' && operation === 'send')) return null;
  const cc = step.param('options.ccList', '');
  const bcc = step.param('options.bccList', '');
  return {
    type: isDraft ? 'connector.gmail.create_draft' : 'connector.gmail.send_message',
    config: {
      credential_id: 0,
      to: step.param('sendTo', step.param('options.sendTo', '')),
      subject: step.param('subject', ''),
      text: step.param('message', ''),
      format: step.text('emailType', step.node.version >= 2 ? 'html' : 'text') === 'html' ? 'html' : 'plain',
      ...(cc === '' ? {} : { cc }),
      ...(bcc === '' ? {} : { bcc }),
    },
  };
}

/** Nodes that wait, branch or end an execution can't be tools. */
const NO_TOOLS = /^(?:ai|wait|webhook|flow|trigger)\.|^core\.(?!set$|code$|data$|crypto$)/;

/** Services of which some operations aren't plain calls. */
const SPECIAL = new Set(['telegram', 'googleDrive', 'microsoftOutlook', 'sendGrid']);

/** The node that something of the original would become, taken back and used as a tool. @throws Unmappable if it would become several */
function handledTool(step: Step, inner: Step, make: Make, handler: Handler): Tool {
  const { builder } = step.compiler;
  const mark = builder.mark();
  const rollBack = step.compiler.mark();
  const takeBack = (reason: Unmappable): Unmappable => {
    rollBack();
    return reason;
  };
  try {
    handler.run(inner);
  } catch (error) {
    throw error instanceof Unmappable ? takeBack(error) : error;
  }
  const { toolArguments } = inner;
  const made = builder.takeLast(mark, inner.mainId);
  if (made === null) throw takeBack(new Unmappable(message('import.tool_of_several')));
  if (NO_TOOLS.test(made.type)) throw takeBack(new Unmappable(message('import.unknown_node')));
  // What is left was computed before: it doesn't depend on the model's arguments.
  if (made.before.length > 0) step.continueFrom(made.before);
  return make(made.type, made.config, schemaOf(toolArguments ?? []));
}

/** What doesn't depend on the model's arguments is computed before the agent starts. */
function computedBefore(step: Step, inner: Step, tool: Tool): Tool {
  inner.computePending();
  step.continueFrom(inner.after);
  return tool;
}

const CALCULATOR = `const text = String(input.expression).replaceAll('**', '^');
const tokens = text.match(/\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?|[-+*/%^()]/gi) ?? [];
let at = 0;
const atom = () => {
  const token = tokens[at++];
  if (token === '(') { const value = sum(); at += 1; return value; }
  if (token === '-') return -power();
  if (token === '+') return power();
  return Number(token);
};
const power = () => { const base = atom(); if (tokens[at] !== '^') return base; at += 1; return base ** power(); };
const product = () => { let value = power(); while ('*/%'.includes(tokens[at] || ' ')) { const sign = tokens[at++], next = power(); value = sign === '*' ? value * next : sign === '/' ? value / next : value % next; } return value; };
const sum = () => { let value = product(); while (tokens[at] === '+' || tokens[at] === '-') { const sign = tokens[at++], next = product(); value = sign === '+' ? value + next : value - next; } return value; };
return sum();`;
