import { type JsonObject, type JsonValue, setOwn, tryParseJson, type Work } from '@millrace/engine';
import { MAX_CODE_LENGTH } from '@millrace/importer-kit/limits';
import { extend, isWithin, literal, type Scope, template } from '@millrace/importer-kit/refs';
import { Unmappable } from '@millrace/importer-kit/unmappable';
import { arrayOf, asText, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import { chooseByModel } from '../direct/choice.ts';
import type { DirectStep, Made, Make } from '../direct/maker.ts';
import { remembered } from '../direct/memory.ts';
import { asked, type ModelField, modelSettings, schemaOf } from '../direct/model.ts';
import { LOOPS } from './loops.ts';
import {
  answersBefore,
  contextOf,
  jsonOrText,
  listValue,
  pairsOf,
  plainText,
  questionIn,
  sessionIn,
  textValue,
} from './text.ts';
import { agentTools, toolCall } from './tools.ts';

type Config = { [name: string]: JsonValue };

/** The nodes of flows of agents. */
export const AGENTFLOW: { readonly [type: string]: Make } = {
  ...LOOPS,
  llmAgentflow: (step) => ask(step, 'llm'),
  agentAgentflow: (step) => ask(step, 'agent'),
  conditionAgentflow: branch,
  conditionAgentAgentflow: branchByModel,
  httpAgentflow: request,
  customFunctionAgentflow: runCode,
  toolAgentflow: (step) => {
    const { id, path } = toolCall(step);
    return finished(step, 'tool', id, (names) => extend(path, membersOf(names)));
  },
  directReplyAgentflow: (step) => {
    const id = step.add('core.set', { values: { text: textValue(step, step.data.directReplyMessage) } });
    return step.result((names) => extend(`nodes.${id}.output.text`, membersOf(names)));
  },
  humanInputAgentflow: askPerson,
  executeFlowAgentflow: callFlow,
  iterationAgentflow: iterate,
  retrieverAgentflow: () => {
    throw new Unmappable(message('import.no_documents'));
  },
};

/** `{{node}}` and `{{node.output.content}}` are the same. */
function membersOf(names: readonly string[]): readonly string[] {
  const [first, ...rest] = names;
  if (first !== 'output') return names;
  return rest[0] === 'content' ? rest.slice(1) : rest;
}

/** The model that a node names, by the name of the setting. */
function modelOf(step: DirectStep, prefix: string): Config {
  const settings = objectOf(step.data[`${prefix}ModelConfig`]);
  const component = textOf(step.data[`${prefix}Model`]);
  if (component === null) throw new Unmappable(message('import.no_model'));
  const name = textOf(settings.customModelName) ?? textOf(settings.modelName) ?? textOf(settings.model);
  return modelSettings(step, name, settings);
}

function ask(step: DirectStep, prefix: 'llm' | 'agent'): Made {
  const { data } = step;
  const at = (name: string) => data[`${prefix}${name}`];
  const turns = arrayOf(at('Messages'))
    .map(objectOf)
    .map((each) => ({ role: textOf(each.role) ?? 'user', text: textValue(step, each.content) }));
  const own = textValue(step, at('UserMessage'));
  const remembers = at('EnableMemory') === true;
  const earlier = remembers ? answersBefore(step) : [];
  if (own !== '') turns.push({ role: 'user', text: own });
  else if (remembers && earlier.length === 0) turns.push({ role: 'user', text: template(questionIn(step)) });
  const { system, prompt } = asked(turns);
  const [instructions, text] = prompt === '' && earlier.length === 0 ? ['', system] : [system, prompt];
  const fields = structureOf(at('StructuredOutput'));
  const tools = prefix === 'agent' ? agentTools(step) : [];
  const id = step.add(prefix === 'agent' ? 'ai.agent' : 'ai.generate', {
    ...modelOf(step, prefix),
    ...(instructions === '' ? {} : { system: instructions }),
    prompt: afterAnswers(step, text, earlier),
    ...(remembers ? memoryOf(step, prefix) : {}),
    ...(tools.length === 0 ? {} : { tools }),
    ...(fields === null ? {} : { output: 'json', schema: fields }),
  });
  const main = `nodes.${id}.output`;
  const made = (names: readonly string[]) => {
    const members = membersOf(names);
    if (fields !== null) return members.length === 0 ? `${main}.text` : extend(`${main}.json`, members);
    return members.length === 0 ? `${main}.text` : extend(main, members);
  };
  return finished(step, prefix, fields === null ? `${main}.text` : `${main}.json`, made);
}

/** The prompt with the answers of earlier nodes, which are in the original's memory. */
function afterAnswers(step: DirectStep, text: string, earlier: readonly string[]): JsonValue {
  if (earlier.length === 0) return text;
  return {
    message: template(questionIn(step)),
    earlier_answers: earlier.map(template),
    ...(text === '' ? {} : { next: text }),
  };
}

/** The settings of a node whose model remembers the chat. */
function memoryOf(step: DirectStep, prefix: string): Config {
  if (!contextOf(step).isChat) return {};
  const { data, id } = step.origin;
  const type = textOf(data[`${prefix}MemoryType`]) ?? 'allMessages';
  const nodes = [...step.maker.flow.origins.values()];
  const isAlone =
    nodes.filter((each) => each.data.llmEnableMemory === true || each.data.agentEnableMemory === true)
      .length === 1;
  return remembered(step, {
    part: isAlone ? null : id,
    turns: type === 'windowSize' ? Number(data[`${prefix}MemoryWindowSize`] ?? 20) : null,
    isSummarised: type.startsWith('conversationSummary'),
  });
}

/** The fields of a structured answer; null if it is a text. */
function structureOf(value: JsonValue | undefined): JsonObject | null {
  const list = typeof value === 'string' ? (tryParseJson(value) ?? []) : value;
  const fields = arrayOf(list)
    .map(objectOf)
    .map(
      (each): ModelField => ({
        name: textOf(each.key) ?? '',
        type: (textOf(each.type) ?? 'string').replace(' ', ''),
        description: textOf(each.description) ?? '',
        choices:
          each.type === 'enum'
            ? asText(each.enumValues)
                .split(',')
                .map((choice) => choice.trim())
                .filter(Boolean)
            : [],
        isRequired: true,
      }),
    );
  return fields.length === 0 ? null : schemaOf(fields);
}

/** What a node became, after it has assigned to the state what it is set to assign. */
function finished(
  step: DirectStep,
  prefix: string,
  own: string,
  read: (names: readonly string[]) => string | null,
): Made {
  const values = pairs(step, step.data[`${prefix}UpdateState`], own);
  if (values.length > 0) {
    const id = step.add(
      'core.set',
      { values: Object.fromEntries(values.map(([, value], index) => [`v${index + 1}`, value])) },
      { suffix: 'state' },
    );
    for (const [index, [name]] of values.entries())
      step.maker.variables.write(`state ${name}`, `nodes.${id}.output.v${index + 1}`, step.scope);
  }
  return step.result(read);
}

function pairs(
  step: DirectStep,
  list: JsonValue | undefined,
  own: string,
): readonly (readonly [string, JsonValue])[] {
  return arrayOf(list)
    .map(objectOf)
    .flatMap((each) => {
      const name = textOf(each.key);
      return name === null ? [] : [[plainText(name), textValue(step, each.value, own)] as const];
    });
}

const OPERATORS: { readonly [operation: string]: string } = {
  contains: 'contains',
  notContains: 'not_contains',
  startsWith: 'starts_with',
  endsWith: 'ends_with',
  equal: 'equals',
  notEqual: 'not_equals',
  isEmpty: 'is_empty',
  notEmpty: 'is_not_empty',
  smaller: 'less_than',
  smallerEqual: 'less_or_equal',
  larger: 'greater_than',
  largerEqual: 'greater_or_equal',
  regex: 'matches',
};

function branch(step: DirectStep): Made {
  const conditions = arrayOf(step.data.conditions).map((each) => condition(step, objectOf(each)));
  if (conditions.length === 0) throw new Unmappable(message('import.no_conditions'));
  const id = step.add('core.switch', {
    cases: conditions.map((each, index) => ({ name: `case ${index + 1}`, conditions: [each] })),
  });
  return step.result(() => null, {
    ...Object.fromEntries(conditions.map((_, index) => [String(index), { id, handle: `case ${index + 1}` }])),
    [String(conditions.length)]: { id, handle: 'default' },
  });
}

function condition(step: DirectStep, given: JsonObject): JsonValue {
  const operation = textOf(given.operation) ?? 'equal';
  const operator = Object.hasOwn(OPERATORS, operation) ? OPERATORS[operation] : undefined;
  if (operator === undefined)
    throw new Unmappable(message('import.unknown_operator', { operator: operation }));
  const left = textValue(step, given.value1);
  if (operator === 'is_empty' || operator === 'is_not_empty') return { left, operator };
  const right = textValue(step, given.value2);
  const number = Number(right);
  if (given.type === 'number' && right.trim() !== '' && Number.isFinite(number))
    return { left, operator, right: number };
  return { left, operator, right: given.type === 'boolean' ? right === 'true' : right };
}

function branchByModel(step: DirectStep): Made {
  const { data } = step;
  const scenarios = arrayOf(data.conditionAgentScenarios).map((each) =>
    textValue(step, objectOf(each).scenario),
  );
  if (scenarios.length === 0) throw new Unmappable(message('import.no_conditions'));
  const instructions = textValue(step, data.conditionAgentInstructions);
  const { id, handles } = chooseByModel(step, {
    model: modelOf(step, 'conditionAgent'),
    instructions: instructions === '' ? [] : [instructions],
    prompt: textValue(step, data.conditionAgentInput) || template(questionIn(step)),
    choices: scenarios,
  });
  return step.result(
    () => null,
    Object.fromEntries(handles.map((handle, index) => [String(index), { id, handle }])),
  );
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const AUTH = { type: 'credential', credential_id: 0 };

function request(step: DirectStep): Made {
  const { data } = step;
  const given = asText(data.method).toUpperCase();
  const method = METHODS.has(given) ? given : 'GET';
  const headers = pairsOf(step, data.headers, ['key', 'value']);
  const query = pairsOf(step, data.queryParams, ['key', 'value']);
  const isSecret = textOf(data.credential) !== null || textOf(data.FLOWISE_CREDENTIAL_ID) !== null;
  if (isSecret) step.approximate(message('import.choose_credential'));
  const type = textOf(data.responseType) ?? 'json';
  const id = step.add('http.request', {
    method,
    url: textValue(step, data.url).trim(),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(query).length === 0 ? {} : { query }),
    ...(method === 'GET' || method === 'HEAD' ? {} : bodyOf(step)),
    ...(isSecret ? { auth: AUTH } : {}),
    ...(type === 'text' ? { response_type: 'text' } : type === 'json' ? {} : { response_type: 'base64' }),
  });
  const main = `nodes.${id}.output`;
  return finished(step, 'http', `${main}.body`, (names) => {
    const [first, second, ...rest] = membersOf(names);
    if (first !== 'http') return extend(`${main}.body`, membersOf(names));
    const member = { data: 'body', status: 'status', headers: 'headers' }[second ?? 'data'];
    return member === undefined ? null : extend(`${main}.${member}`, rest);
  });
}

function bodyOf(step: DirectStep): Config {
  const { data } = step;
  switch (textOf(data.bodyType) ?? '') {
    case 'json': {
      const body = jsonOrText(step, data.body);
      return typeof body === 'string'
        ? { body, body_type: 'text', headers: { 'Content-Type': 'application/json' } }
        : { body };
    }
    case 'raw':
      return { body: textValue(step, data.body), body_type: 'text' };
    case 'formData':
      return { body: pairsOf(step, data.body, ['key', 'value']), body_type: 'multipart' };
    case 'xWwwFormUrlencoded':
      return { body: pairsOf(step, data.body, ['key', 'value']), body_type: 'form' };
    default:
      return {};
  }
}

const FOREIGN = /\brequire\s*\(|\bimport\s*\(|^\s*import\s|\bfetch\s*\(|\$flow\.state\.\w+\s*=[^=]/m;

function runCode(step: DirectStep): Made {
  const { data } = step;
  const code = asText(data.customFunctionJavascriptFunction);
  const foreign = FOREIGN.exec(code);
  if (foreign !== null)
    throw new Unmappable(
      message('import.only_in_original', { part: foreign[0].trim().replace(/\s*\($/, '') }),
    );
  if (code.trim() === '') throw new Unmappable(message('import.only_in_original', { part: 'code' }));
  if (code.length > MAX_CODE_LENGTH) throw new Unmappable(message('import.code_too_long'));
  const inputs: Config = {};
  const names: string[] = [];
  for (const each of arrayOf(data.customFunctionInputVariables).map(objectOf)) {
    const name = textOf(each.variableName);
    if (name === null || !/^[A-Za-z_]\w*$/.test(name)) continue;
    names.push(name);
    setOwn(inputs, name, textValue(step, each.variableValue));
  }
  const flow = flowObject(step, code);
  const before = [
    ...[...new Set(names)].map((name) => `const $${name} = input.${name};`),
    ...(flow === null ? [] : ['const $flow = input.flow;']),
  ];
  const id = step.add('core.code', {
    code: literal([...before, code].join('\n')),
    input: { ...inputs, ...(flow === null ? {} : { flow }) },
  });
  const main = `nodes.${id}.output.result`;
  return finished(step, 'customFunction', main, (names) => extend(main, membersOf(names)));
}

/** `$flow` as code reads it; null if it doesn't. */
function flowObject(step: DirectStep, code: string): JsonValue | null {
  if (!code.includes('$flow')) return null;
  const state: Config = {};
  for (const key of contextOf(step).keys)
    setOwn(state, key, template(step.maker.variables.read(`state ${key}`, step) ?? 'null'));
  return {
    state,
    sessionId: template(sessionIn(step)),
    chatId: template(sessionIn(step)),
    input: template(questionIn(step)),
  };
}

function askPerson(step: DirectStep): Made {
  const { data } = step;
  if (textOf(data.humanInputDescriptionType) === 'dynamic')
    throw new Unmappable(message('import.wait_for_call'));
  step.approximate(message('import.asks_in_admin_area'));
  const id = step.add('wait.approval', {
    title: step.origin.name,
    text: textValue(step, data.humanInputDescription),
    choices: [
      { id: 'proceed', label: 'Proceed' },
      { id: 'reject', label: 'Reject' },
    ],
  });
  return step.result((names) => extend(`nodes.${id}.output`, membersOf(names)), {
    '0': { id, handle: 'proceed' },
    '1': { id, handle: 'reject' },
  });
}

function callFlow(step: DirectStep): Made {
  step.approximate(message('import.choose_workflow'));
  const id = step.add('flow.call', {
    workflow_id: 0,
    input: { question: textValue(step, step.data.executeFlowInput), sessionId: template(sessionIn(step)) },
  });
  const main = `nodes.${id}.output`;
  return finished(step, 'executeFlow', `${main}.text`, (names) => extend(`${main}.text`, membersOf(names)));
}

function* iterate(step: DirectStep): Work<Made> {
  const { maker } = step;
  const items = listValue(step, step.data.iterationInput);
  const children = maker.childrenOf(step.origin.id);
  const ids = new Set(children.map(({ id }) => id));
  const reached = new Set(maker.flow.links.filter(({ from }) => ids.has(from)).map(({ to }) => to));
  const roots = children.filter(({ id }) => !reached.has(id));
  if (roots.length === 0) throw new Unmappable(message('import.empty_loop'));
  const id = step.add('core.for_each', { items });
  const scope: Scope = { id, parent: step.scope, kind: 'items', list: '' };
  const result = step.result(([first, ...rest], reader) => {
    if (first !== '$iteration')
      return extend(
        `nodes.${id}.output.items`,
        membersOf([...(first === undefined ? [] : [first]), ...rest]),
      );
    if (!isWithin(reader.scope, scope)) return null;
    return extend(reader.scope === scope ? 'item' : maker.builder.capture(scope), rest);
  });
  maker.made.set(step.origin.id, result);
  const order = yield* maker.makeLevel(roots, scope);
  const last = order.filter((each) => maker.isEnd(each.id)).at(-1);
  const end = step.at(scope);
  const path = last === undefined ? null : (maker.made.get(last.id)?.read([], end) ?? null);
  const config = maker.builder.config(id);
  if (config !== undefined && path !== null) config.result = template(path);
  return result;
}
