import { isJsonObject, type JsonObject, type JsonValue, own } from '@millrace/engine';
import { filesOfCode } from '@millrace/importer-expressions/code-files';
import { foreignPartOf } from '@millrace/importer-expressions/expressions';
import { withModules } from '@millrace/importer-expressions/modules';
import { withRequests } from '@millrace/importer-expressions/requests';
import { extend, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { readConditions } from '../conditions.ts';
import { forItem, forList, type Handlers } from '../handler.ts';
import { jsonParam } from '../json-text.ts';
import { arrayOf, asText, objectOf, textOf } from '../read.ts';
import { isAnnounced } from '../resume.ts';
import { type Step, Unmappable } from '../step.ts';
import { codeWithFiles, madeFileList, madeFiles } from './code-files.ts';
import { codeWithRequests } from './code-requests.ts';
import { dateTime } from './dates.ts';
import { runPython } from './python.ts';
import { waitForForm } from './wait-form.ts';

/** Nodes that decide, shape and compute. */
export const CORE: Handlers = {
  set: forItem(setValues),
  if: forItem(branch, { isRouter: true }),
  filter: forItem((step) => branch(step).slice(0, 1), { isRouter: true }),
  switch: forItem(switchCases, { isRouter: true }),
  noOp: forItem((step) => passOn(step)),
  executionData: forItem((step) => {
    step.approximate(message('import.not_needed'));
    return passOn(step);
  }),
  code: {
    ...forList(runCode, { collects: true }),
    takes: ({ parameters }) => (runsForEach(parameters) ? 'item' : 'list'),
  },
  function: forList(runCode, { collects: true }),
  functionItem: forItem((step) => codePerItem(step, withoutModules(step.text('functionCode')))),
  wait: forItem(wait),
  stopAndError: forItem(fail),
  renameKeys: forItem(renameKeys),
  dateTime: forItem(dateTime),
  executeWorkflow: forItem(callWorkflow),
};

/** A node that repeats nothing and changes nothing, so that the original stays recognisable. */
export function passOn(step: Step): readonly Out[] {
  step.add('core.set', { values: {} });
  return [step.pass()];
}

function setValues(step: Step): readonly Out[] {
  const { version } = step.node;
  const values: { [name: string]: JsonValue } = {};
  if (version >= 3 && step.text('mode', 'manual') === 'raw') {
    const object = jsonParam(step, step.raw('jsonOutput'));
    if (object === undefined) throw new Unmappable(message('import.not_json', { parameter: 'jsonOutput' }));
    if (typeof object === 'string') return withOthers(step, { '...': object });
    Object.assign(values, isJsonObject(object) ? object : {});
    return withOthers(step, values);
  }
  const isDotted = step.raw('options.dotNotation') !== false;
  for (const { name, value } of assignmentsOf(step)) {
    const names = isDotted ? name.split('.').filter((part) => part !== '') : [name];
    assign(values, names, value);
  }
  return withOthers(step, values);
}

function assign(target: { [name: string]: JsonValue }, names: readonly string[], value: JsonValue): void {
  const [name = '', ...rest] = names;
  if (name === '__proto__') return;
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const inner = own(target, name);
  const next = { ...(inner !== undefined && isJsonObject(inner) ? inner : {}) } as {
    [name: string]: JsonValue;
  };
  assign(next, rest, value);
  target[name] = next;
}

function assignmentsOf(step: Step): readonly { readonly name: string; readonly value: JsonValue }[] {
  const typed = (kind: string, given: JsonValue | undefined) => typedValue(step, kind, given ?? null);
  const newest = arrayOf(step.raw('assignments.assignments')).map(objectOf);
  const newer = arrayOf(step.raw('fields.values')).map(objectOf);
  const older = objectOf(step.raw('values'));
  return [
    ...newest.map((each) => ({
      name: nameIn(step, each.name),
      value: typed(textOf(each.type) ?? 'string', each.value),
    })),
    ...newer.map((each) => {
      const kind = textOf(each.type) ?? 'stringValue';
      return { name: nameIn(step, each.name), value: typed(kind.replace('Value', ''), each[kind]) };
    }),
    ...['string', 'number', 'boolean'].flatMap((kind) =>
      arrayOf(older[kind])
        .map(objectOf)
        .map((each) => ({ name: nameIn(step, each.name), value: typed(kind, each.value) })),
    ),
  ].filter(({ name }) => name !== '');
}

/** A name that is an expression can't be expressed; it is computed only where the value is. */
function nameIn(step: Step, name: JsonValue | undefined): string {
  const text = typeof name === 'string' ? name : '';
  if (!text.startsWith('=')) return text;
  if (!text.includes('{{')) return text.slice(1);
  const value = step.value(text);
  if (typeof value === 'string' && value.includes('{{'))
    throw new Unmappable(message('import.name_is_expression', { name: text }));
  return asText(value);
}

function typedValue(step: Step, kind: string, given: JsonValue): JsonValue {
  if (kind === 'object' || kind === 'array' || kind === 'json')
    return jsonParam(step, given) ?? step.value(given);
  const value = step.value(given);
  if (typeof value !== 'string' || value.includes('{{')) return value;
  if (kind === 'number' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
  if (kind === 'boolean') return value === 'true';
  return value;
}

/** JavaScript for the fields of the item that are kept, if not all are; null for all. */
function keptNames(step: Step): string | null {
  const how = step.text('include', 'all');
  if (how !== 'selected' && how !== 'except') return null;
  const given = step.text(how === 'selected' ? 'includeFields' : 'excludeFields');
  if (given.startsWith('=')) throw new Unmappable(message('import.name_is_expression', { name: given }));
  const names = given.split(',').map((name) => name.trim());
  const test = how === 'selected' ? '' : '!';
  return `Object.fromEntries(Object.entries(input.item).filter(([name]) => ${test}${JSON.stringify(names)}.includes(name)))`;
}

/** A Set values node; a Code node if the item's other fields are kept. */
function withOthers(step: Step, values: { [name: string]: JsonValue }): readonly Out[] {
  const { version } = step.node;
  const keepsOthers =
    version >= 3.3
      ? step.raw('includeOtherFields') === true
      : version >= 3
        ? step.text('include', 'all') !== 'none'
        : step.raw('keepOnlySet') !== true;
  const kept = keptNames(step);
  const hasSpread = Object.hasOwn(values, '...');
  const isEmptyStart =
    step.input?.path === 'trigger.data' &&
    step.compiler.started.triggers.every(({ kind }) => kind === 'manualTrigger');
  if (!hasSpread && (!keepsOthers || isEmptyStart || step.input === null)) {
    const id = step.add('core.set', { values });
    return [step.one(`nodes.${id}.output`)];
  }
  const item = keepsOthers ? step.item() : {};
  const chosen = kept === null ? 'input.item' : kept;
  const { '...': spread, ...rest } = values;
  const id = step.add('core.code', {
    code: `return { ...${chosen}, ...input.values };`,
    input: { item, values: hasSpread ? (spread ?? {}) : rest },
  });
  return [step.one(`nodes.${id}.output.result`)];
}

function branch(step: Step): readonly Out[] {
  const conditions = readConditions(step, step.raw('conditions'), step.text('combineOperation', 'all'));
  const id = step.add('core.if', { ...conditions });
  return [step.pass('true', id), step.pass('false', id)];
}

function switchCases(step: Step): readonly Out[] {
  if (step.text('mode', 'rules') === 'expression') return switchByNumber(step);
  const rules = [...arrayOf(step.raw('rules.values')), ...arrayOf(step.raw('rules.rules'))].map(objectOf);
  const names = rules.map((rule, index) => textOf(rule.outputKey) ?? `case_${index + 1}`);
  const cases = rules.map((rule, index) => ({
    name: caseName(names, index),
    ...(rule.conditions === undefined ? oldRule(step, rule) : readConditions(step, rule.conditions, 'and')),
  }));
  const isAll = step.raw('options.allMatchingOutputs') === true;
  const id = step.add('core.switch', {
    cases,
    mode: isAll ? 'all_matches' : 'first_match',
  });
  const outs = rules.map((rule, index) => {
    const output = step.node.version < 3 && typeof rule.output === 'number' ? rule.output : index;
    return { output, out: step.pass(caseName(names, index), id) };
  });
  const count = Math.max(...outs.map(({ output }) => output), -1) + 1;
  const byOutput = Array.from(
    { length: count },
    (_, output) => outs.find((each) => each.output === output)?.out,
  );
  const fallback = step.pass('default', id);
  const shared = step.raw('options.fallbackOutput') ?? step.raw('fallbackOutput');
  if (typeof shared !== 'number' || shared < 0) return [...byOutput.map((out) => out ?? fallback), fallback];
  const joined = byOutput[shared];
  if (joined === undefined)
    return Array.from({ length: shared + 1 }, (_, output) => byOutput[output] ?? fallback);
  // What fits no rule leaves by the output of one of them.
  step.continueFrom([joined.exit, fallback.exit]);
  const both = step.pass('out', step.add('core.set', { values: {} }, { suffix: `output ${shared}` }));
  return byOutput.map((out, output) => (output === shared ? both : (out ?? fallback)));
}

function oldRule(step: Step, rule: { readonly [name: string]: JsonValue }) {
  const kind = step.text('dataType', 'number');
  const value1 = step.raw('value1') ?? null;
  return readConditions(step, { [kind]: [{ ...rule, value1, operation: rule.operation ?? 'equal' }] }, 'all');
}

function caseName(names: readonly string[], index: number): string {
  const plain = (names[index] ?? '').replace(/[{}]/g, '').trim().slice(0, 50);
  const isTaken = names.indexOf(names[index] ?? '') !== index || /^(?:default|error|)$/.test(plain);
  return isTaken ? `${plain || 'case'}_${index + 1}` : plain;
}

function switchByNumber(step: Step): readonly Out[] {
  const output = step.param('output');
  const count = Math.min(Number(step.raw('numberOutputs') ?? 4) || 4, 50);
  const cases = Array.from({ length: count }, (_, index) => ({
    name: `output_${index}`,
    conditions: [{ left: output, operator: 'equals', right: index }],
  }));
  const id = step.add('core.switch', { cases });
  return cases.map(({ name }) => step.pass(name, id));
}

/** Code that says so, or that passes the files of each item on: they stay with it in a loop. */
function runsForEach({ mode, jsCode }: JsonObject): boolean {
  if (mode === 'runOnceForEachItem') return true;
  const code = textOf(jsCode) ?? '';
  return code.includes('binary') && filesOfCode(code)?.isEach === true;
}

const STATIC_DATA = /\$getWorkflowStaticData|\bgetWorkflowStaticData/;

function runCode(step: Step): readonly Out[] {
  if (step.text('language').startsWith('python')) {
    const path = runPython(step);
    const isEach = step.input?.kind !== 'many' && step.text('mode') === 'runOnceForEachItem';
    return [isEach ? oneMade(step, path, RETURNS_NULL) : step.many(path)];
  }
  const written = withoutModules(step.text('jsCode') || step.text('functionCode'));
  const sending = withRequests(written);
  const made = codeWithFiles(step, sending?.code ?? written);
  const { code } = made;
  const isPerItem = step.text('mode') === 'runOnceForEachItem';
  const remembers = STATIC_DATA.test(code);
  if (sending !== null && (remembers || made.makes.length > 0 || made.prelude !== ''))
    throw new Unmappable(message('import.only_in_original', { part: 'this.helpers' }));
  const foreign = foreignPartOf(
    remembers ? made.readable.replace(new RegExp(STATIC_DATA, 'g'), '') : made.readable,
  );
  if (foreign !== null) throw new Unmappable(message('import.only_in_original', { part: foreign }));
  const body = `${made.prelude}const out = await (async () => {\n${code}\n})();\nconst results = (Array.isArray(out) ? out : [out]).map((each) => each?.json ?? (Object.hasOwn(Object(each), 'binary') ? {} : each)).filter((each) => each != null);`;
  const isSingle = step.input === null || step.input.kind === 'one';
  const isSure = step.input?.perhapsMany === undefined;
  const isOne = isSingle && ((isSure && made.keepsCount) || returnsOne(code, isPerItem));
  if (isOne && !remembers && made.makes.length > 0) return [madeFiles(step, body, made)];
  if (!isOne && !remembers && made.makes.length > 0) return [madeFileList(step, body, made)];
  const path = remembers
    ? codeWithMemory(step, body)
    : sending !== null
      ? codeWithRequests(step, body, sending.isSigned)
      : `nodes.${step.addCode(`${body}\nreturn results;`, { input: made.input })}.output.result`;
  if (!isOne) return [step.many(path)];
  const out = oneMade(step, path, isPerItem ? RETURNS_NULL : RETURNS_NONE);
  const files = made.passes ? step.input?.files : undefined;
  return [files === undefined ? out : { ...out, ref: { ...out.ref, files } }];
}

const RETURNS_NONE = /\breturn\s*\[\s*\]/;
const RETURNS_NULL = /\breturn(?:[ \t]*\[\s*\]|[ \t]+(?:null|undefined|None)\b|[ \t]*(?:[;}\n]|$))/;

/** The one item that code makes. If it may make none, nothing follows then. */
function oneMade(step: Step, list: string, returnsNone: RegExp): Out {
  const code = step.text('jsCode') || step.text('functionCode') || step.text('pythonCode');
  if (returnsNone.test(code) && step.node.raw.alwaysOutputData !== true) {
    const any = { left: template(`${list} | length`), operator: 'greater_than', right: 0 };
    const id = step.add('core.if', { conditions: [any] }, { suffix: 'any item?' });
    step.continueFrom([{ id, handle: 'true' }]);
  }
  return step.one(extend(list, ['0']));
}

/** With modules that the shim has, and constants of the workflow in place of the environment. */
function withoutModules(code: string): string {
  return withModules(code.replaceAll(/(?<![.\w$])process\.env\b/g, '$env'));
}

/** What n8n keeps with the workflow between executions is read from the data store before, and written back after. */
function codeWithMemory(step: Step, body: string): string {
  step.approximate(message('import.own_store'));
  const key = `static/${step.compiler.staticDataKey}`;
  const before = step.add('data.store', { operation: 'get', key }, { suffix: 'remembered' });
  const id = step.addCode(
    `const kept = input.kept ?? {};\nconst $getWorkflowStaticData = () => kept, getWorkflowStaticData = $getWorkflowStaticData;\n${body}\nreturn { results, kept };`,
    { input: { kept: template(`nodes.${before}.output.value`) } },
  );
  const value = template(`nodes.${id}.output.result.kept`);
  step.add('data.store', { operation: 'set', key, value }, { suffix: 'remember' });
  return `nodes.${id}.output.result.results`;
}

function codePerItem(step: Step, code: string): readonly Out[] {
  const remembers = STATIC_DATA.test(code);
  const foreign = foreignPartOf(remembers ? code.replace(new RegExp(STATIC_DATA, 'g'), '') : code);
  if (foreign !== null) throw new Unmappable(message('import.only_in_original', { part: foreign }));
  const body = `const out = await (async (item) => {\n${code}\n})(item.json);\nconst results = out?.json ?? out;`;
  const path = remembers
    ? codeWithMemory(step, body)
    : `nodes.${step.addCode(`${body}\nreturn results;`)}.output.result`;
  return [step.one(path)];
}

/** Whether code obviously returns one item: an object, or a list with one literal in it. */
function returnsOne(code: string, isPerItem: boolean): boolean {
  if (isPerItem) return true;
  const returns = [...code.matchAll(/\breturn\s+([^\n]{0,40})/g)].map(([, start = '']) => start.trim());
  const last = returns.at(-1) ?? '';
  if (last.startsWith('{')) return true;
  if (!/^\[\s*(?:\{|$)/.test(last)) return false;
  const tail = code.slice(code.lastIndexOf('return'));
  return (tail.match(/\bjson['"]?\s*:/g)?.length ?? 0) <= 1 && !/\.\.\.|\.map\(/.test(tail.slice(0, 60));
}

function wait(step: Step): readonly Out[] {
  const resume = step.text('resume', 'timeInterval');
  if (resume === 'specificTime') {
    const id = step.add('core.delay', { until: step.param('dateTime') });
    return [step.pass('out', id)];
  }
  if (resume === 'webhook' && isAnnounced(step.compiler, step.node)) return passOn(step);
  if (resume === 'form') return waitForForm(step);
  if (resume !== 'timeInterval') throw new Unmappable(message('import.wait_for_call'));
  const amount = step.param('amount', step.node.version >= 1.1 ? 5 : 1);
  const unit = step.text('unit', step.node.version >= 1.1 ? 'seconds' : 'hours');
  const isKnown = ['seconds', 'minutes', 'hours', 'days'].includes(unit);
  const number = typeof amount === 'string' && Number.isFinite(Number(amount)) ? Number(amount) : amount;
  const id = step.add('core.delay', { duration: { amount: number, unit: isKnown ? unit : 'seconds' } });
  return [step.pass('out', id)];
}

function fail(step: Step): readonly Out[] {
  const isObject = step.text('errorType', 'errorMessage') === 'errorObject';
  const text = isObject ? jsonParam(step, step.raw('errorObject')) : step.param('errorMessage', '');
  step.add('core.fail', { message: text ?? '' });
  return [step.pass()];
}

function renameKeys(step: Step): readonly Out[] {
  const fields = arrayOf(step.raw('keys.key'))
    .map(objectOf)
    .map((key) => ({ from: textOf(key.currentKey) ?? '', to: textOf(key.newKey) ?? '' }))
    .filter(({ from, to }) => from !== '' && to !== '');
  if (fields.length === 0) return passOn(step);
  const data = step.item();
  const id = step.add('core.data', { data, steps: [{ operation: 'rename', fields }] });
  return [step.one(`nodes.${id}.output.data`)];
}

function callWorkflow(step: Step): readonly Out[] {
  const waits = step.raw('options.waitForSubWorkflow') !== false;
  const given = step.raw('workflowInputs.value');
  const fields =
    given === undefined || Object.keys(objectOf(given)).length === 0 ? undefined : step.value(given);
  const input = fields ?? step.item();
  const id = step.add('flow.call', { workflow_id: 0, input, wait: waits });
  step.approximate(message('import.choose_workflow'));
  if (step.scope.kind === 'items' && step.text('mode', 'once') !== 'each')
    step.approximate(message('import.called_for_each'));
  if (!waits) return [step.pass('out', id)];
  const result = { output: template(`nodes.${id}.output.output`) };
  const items = step.add('core.code', { code: CALLED_ITEMS, input: result }, { suffix: 'items' });
  const out = step.one(`nodes.${items}.output.result`);
  return [{ ...out, ref: { ...out.ref, perhapsMany: step.node.name } }];
}

/** The items of a called workflow: an imported one ends with all of them, any other with its last node's output. */
const CALLED_ITEMS = `const output = input.output ?? {};
const names = Object.keys(output);
const all = names.length === 1 && Array.isArray(output.items) ? output.items : names.length === 0 ? [] : [output];
const items = all.map((each) => (typeof each === 'object' ? each : { data: each }));
return items.length === 1 ? items[0] : items;`;
