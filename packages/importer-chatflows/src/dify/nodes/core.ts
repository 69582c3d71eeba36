import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, own, setOwn } from '@millrace/engine';
import { MAX_CODE_LENGTH } from '@millrace/importer-kit/limits';
import { missingPackageIn } from '@millrace/importer-kit/python-packages';
import { extend, literal, MISSING, operand, quote, template } from '@millrace/importer-kit/refs';
import { Unmappable } from '@millrace/importer-kit/unmappable';
import { arrayOf, asText, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import type { DirectStep, Made, Make } from '../../direct/maker.ts';
import { anyValue, contextOf, namesIn, selected, textValue } from '../values.ts';
import { caseConditions } from './conditions.ts';
import { withError } from './errors.ts';
import { jinjaText } from './models.ts';

/** Nodes that decide, shape and answer. */
export const CORE: { readonly [type: string]: Make } = {
  answer,
  end,
  'if-else': branch,
  code: withError(runCode),
  'template-transform': withError(writeText),
  'variable-aggregator': aggregate,
  'variable-assigner': aggregate,
  'list-operator': withError(reshapeList),
  'human-input': askPerson,
  'document-extractor': () => {
    throw new Unmappable(message('import.no_documents'));
  },
};

type Config = { [name: string]: JsonValue };

function answer(step: DirectStep): Made {
  const id = step.add('core.set', { values: { answer: textValue(step, step.data.answer) } });
  return step.result(([name]) => (name === 'answer' ? `nodes.${id}.output.answer` : null));
}

/** The entry of the data store for a conversation's variables. */
export function variablesEntry(step: DirectStep): string {
  return `${contextOf(step).key}/variables/{{trigger.data.session_id}}`;
}

function end(step: DirectStep): Made {
  const values: Config = {};
  for (const each of arrayOf(step.data.outputs).map(objectOf)) {
    const name = textOf(each.variable);
    if (name !== null) setOwn(values, name, template(selected(step, each.value_selector)));
  }
  const id = step.add('core.set', { values });
  return step.result((names) => extend(`nodes.${id}.output`, names));
}

function branch(step: DirectStep): Made {
  const { data } = step;
  const given = arrayOf(data.cases).map(objectOf);
  const cases =
    given.length > 0
      ? given
      : [
          {
            case_id: 'true',
            conditions: data.conditions ?? [],
            logical_operator: data.logical_operator ?? 'and',
          },
        ];
  const [only] = cases;
  if (cases.length === 1 && only !== undefined) {
    const id = step.add('core.if', { ...caseConditions(step, only) });
    const exits = { [idOf(only, 0)]: { id, handle: 'true' }, false: { id, handle: 'false' } };
    return step.result(() => null, exits);
  }
  const id = step.add('core.switch', {
    cases: cases.map((each, index) => ({ name: `case ${index + 1}`, ...caseConditions(step, each) })),
  });
  return step.result(() => null, {
    ...Object.fromEntries(
      cases.map((each, index) => [idOf(each, index), { id, handle: `case ${index + 1}` }]),
    ),
    false: { id, handle: 'default' },
  });
}

function idOf(each: JsonObject, index: number): string {
  return textOf(each.case_id) ?? textOf(each.id) ?? (index === 0 ? 'true' : String(index));
}

/** The inputs of a node by the names that its code knows. */
export function inputsOf(step: DirectStep, variables: JsonValue | undefined): Config {
  const inputs: Config = {};
  for (const each of arrayOf(variables).map(objectOf)) {
    const name = textOf(each.variable);
    if (name === null) continue;
    const names = namesIn(each.value_selector);
    setOwn(
      inputs,
      name,
      names === null ? anyValue(step, each.value ?? null) : template(selected(step, each.value_selector)),
    );
  }
  return inputs;
}

/** The original calls main with the inputs by name, too. */
function runPython(step: DirectStep, code: string): Made {
  const missing = missingPackageIn(code);
  if (missing !== null) throw new Unmappable(message('import.only_in_original', { part: missing }));
  const id = step.add('core.code', {
    language: 'python',
    code: literal(`${code}\n\nreturn main(**input)`),
    input: inputsOf(step, step.data.variables),
    timeout_ms: 30_000,
  });
  return step.result((names) => extend(`nodes.${id}.output.result`, names));
}

function runCode(step: DirectStep): Made {
  const { data } = step;
  const code = textOf(data.code) ?? '';
  if (code.length > MAX_CODE_LENGTH) throw new Unmappable(message('import.code_too_long'));
  if (data.code_language !== 'javascript') return runPython(step, code);
  const foreign = /\brequire\s*\(|\bimport\s*\(|^\s*import\s/m.exec(code);
  if (foreign !== null) throw new Unmappable(message('import.only_in_original', { part: 'require' }));
  const id = step.add('core.code', {
    code: literal(`${code}\n\nreturn await main(input);`),
    input: inputsOf(step, data.variables),
  });
  return step.result((names) => extend(`nodes.${id}.output.result`, names));
}

function writeText(step: DirectStep): Made {
  const { data } = step;
  const text = jinjaText(step, asText(data.template), arrayOf(data.variables).map(objectOf));
  const id = step.add('core.set', { values: { output: whole(text) } });
  return step.result(([name, ...rest]) =>
    name === 'output' ? extend(`nodes.${id}.output.output`, rest) : null,
  );
}

/** The result of a template is a text, whatever it is made of. */
function whole(text: string): string {
  const [, inside] = /^\{\{((?:(?!\}\}).)*)\}\}$/s.exec(text) ?? [];
  if (inside === undefined) return text;
  return template(`${operand(inside)} | string`);
}

/** The first of several values that is there. */
function aggregate(step: DirectStep): Made {
  const { data } = step;
  const settings = objectOf(data.advanced_settings);
  const groups = settings.group_enabled === true ? arrayOf(settings.groups).map(objectOf) : [];
  const values: Config = {};
  if (groups.length === 0) values.output = template(firstOf(step, data.variables));
  for (const group of groups)
    setOwn(values, textOf(group.group_name) ?? 'output', {
      output: template(firstOf(step, group.variables)),
    });
  const id = step.add('core.set', { values });
  return step.result((names) => extend(`nodes.${id}.output`, names));
}

function firstOf(step: DirectStep, variables: JsonValue | undefined): string {
  const paths = arrayOf(variables).map((selector) => operand(selected(step, selector)));
  return paths.length === 0 ? MISSING : paths.join(' ?? ');
}

const COMPARED: { readonly [operator: string]: (left: string, right: string) => string } = {
  contains: (left, right) => `(${left} | contains: ${right})`,
  'not contains': (left, right) => `!(${left} | contains: ${right})`,
  'start with': (left, right) => `(${left} | starts_with: ${right})`,
  'end with': (left, right) => `(${left} | ends_with: ${right})`,
  is: (left, right) => `${left} == ${right}`,
  'is not': (left, right) => `${left} != ${right}`,
  '=': (left, right) => `${left} == ${right}`,
  '≠': (left, right) => `${left} != ${right}`,
  '>': (left, right) => `${left} > ${right}`,
  '<': (left, right) => `${left} < ${right}`,
  '≥': (left, right) => `${left} >= ${right}`,
  '≤': (left, right) => `${left} <= ${right}`,
  empty: (left) => `(${left} | length) == 0`,
  'not empty': (left) => `(${left} | length) > 0`,
  in: (left, right) => `(${right} | contains: ${left})`,
  'not in': (left, right) => `!(${right} | contains: ${left})`,
};

function reshapeList(step: DirectStep): Made {
  const { data } = step;
  if (/file/.test(asText(data.var_type))) step.approximate(message('import.file_members'));
  let list = operand(selected(step, data.variable));
  const filter = objectOf(data.filter_by);
  for (const each of filter.enabled === true ? arrayOf(filter.conditions).map(objectOf) : []) {
    const key = textOf(each.key);
    const operator = textOf(each.comparison_operator) ?? '';
    const compare = own(COMPARED, operator);
    if (compare === undefined) throw new Unmappable(message('import.unknown_operator', { operator }));
    list = `${list} | where: (${compare(key === null ? 'it' : extend('it', [key]), rightOf(step, each.value ?? ''))})`;
  }
  const order = objectOf(data.order_by);
  if (order.enabled === true)
    list = `${list} | sort: ${quote(asText(order.key))}, ${order.value === 'desc' ? '"desc"' : '"asc"'}`;
  const extracted = objectOf(data.extract_by);
  if (extracted.enabled === true) {
    const serial = textValue(step, extracted.serial);
    const number = Number(serial);
    if (!Number.isInteger(number) || number < 1)
      throw new Unmappable(message('import.name_is_expression', { name: 'serial' }));
    list = `${list} | slice: ${number - 1}, ${number}`;
  }
  const limit = objectOf(data.limit);
  const size = Number(limit.size);
  if (limit.enabled === true && Number.isInteger(size) && size >= 0) list = `${list} | slice: 0, ${size}`;
  const id = step.add('core.set', {
    values: {
      result: template(list),
      first_record: template(`${list} | first`),
      last_record: template(`${list} | last`),
    },
  });
  return step.result((names) => extend(`nodes.${id}.output`, names));
}

/** The value that members are compared with: a constant, a list of them, or a reference alone. */
function rightOf(step: DirectStep, value: JsonValue): string {
  if (isJsonArray(value)) return `(${quote(JSON.stringify(value))} | parse_json)`;
  const text = textValue(step, isJsonObject(value) ? JSON.stringify(value) : asText(value));
  const [, inside] = /^\{\{((?:(?!\}\}).)*)\}\}$/s.exec(text) ?? [];
  if (inside !== undefined) return operand(inside);
  return text.trim() !== '' && Number.isFinite(Number(text)) ? String(Number(text)) : quote(asText(value));
}

/** A person decides by buttons, as in an approval. */
function askPerson(step: DirectStep): Made {
  const { data } = step;
  const actions = arrayOf(data.user_actions).map(objectOf);
  if (actions.length === 0) throw new Unmappable(message('import.wait_for_call'));
  if (arrayOf(data.inputs).length > 0) throw new Unmappable(message('import.wait_for_call'));
  const amount = Number(data.timeout ?? 3);
  const seconds = (Number.isFinite(amount) ? amount : 3) * (data.timeout_unit === 'hour' ? 3600 : 86_400);
  const choices = actions.slice(0, 10).map((each, index) => ({
    id: `choice_${index + 1}`,
    label: textOf(each.title) ?? textOf(each.id) ?? `${index + 1}`,
  }));
  step.approximate(message('import.asks_in_admin_area'));
  const id = step.add('wait.approval', {
    title: step.origin.name,
    text: textValue(step, data.form_content),
    choices,
    timeout_s: Math.min(Math.max(Math.round(seconds), 1), 2_592_000),
  });
  const exits = Object.fromEntries(
    actions.map((each, index) => [textOf(each.id) ?? '', { id, handle: `choice_${index + 1}` }]),
  );
  return step.result(() => null, { ...exits, __timeout: { id, handle: 'timeout' } });
}
