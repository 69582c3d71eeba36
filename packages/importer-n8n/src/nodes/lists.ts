import { type JsonObject, type JsonValue, own } from '@millrace/engine';
import { foreignPartOf } from '@millrace/importer-expressions/expressions';
import { type Ref, type Scope, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { batchOutputs } from '../graph.ts';
import { forItem, forList, type Handlers } from '../handler.ts';
import { arrayOf, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';

/** Nodes over lists of items. */
export const LISTS: Handlers = {
  splitOut: forItem((step) => splitOut(step, step.text('fieldToSplitOut'), step.text('include'))),
  aggregate: forList(aggregate, { collects: true }),
  limit: forList((step) => limit(step, Number(step.raw('maxItems') ?? 1), step.text('keep', 'firstItems'))),
  sort: forList(sort),
  removeDuplicates: {
    ...forList(removeDuplicates, { isRouter: true }),
    takes: ({ parameters }) => (parameters.operation === REMEMBERING ? 'item' : 'list'),
  },
  summarize: forList(summarize, { collects: true }),
  merge: {
    ...forList(merge),
    takes: ({ parameters }) => ((parameters.mode ?? 'append') === 'append' ? 'join' : 'list'),
  },
  itemLists: { ...forList(itemLists), takes: ({ parameters }) => itemListsTakes(parameters.operation) },
  splitInBatches: forList(splitInBatches),
};

/** The whole list that arrived at an input, for a setting. */
export function listAt(step: Step, input = 0): JsonValue {
  const ref = step.inputs[input];
  return ref == null ? [] : step.compiler.listIn(ref, step.scope);
}

/** A node that computes a list from the list that arrived. */
function listBy(step: Step, code: string, more: { [name: string]: JsonValue } = {}): Out {
  const id = step.add('core.code', { code, input: { items: listAt(step), ...more } });
  return step.many(`nodes.${id}.output.result`);
}

export const READ_FIELD =
  "const read = (item, path) => Object.hasOwn(item ?? {}, path) ? item[path] : path.split('.').reduce((at, name) => at?.[name], item);\n";

function namesIn(text: string): readonly string[] {
  return text
    .replace(/^=/, '')
    .split(',')
    .map((name) => name.trim().replace(/^\$json\./, ''))
    .filter((name) => name !== '');
}

function splitOut(step: Step, fields: string, include: string): readonly Out[] {
  if (fields.includes('{{')) throw new Unmappable(message('import.name_is_expression', { name: fields }));
  const [first = '', ...others] = namesIn(fields);
  const name = textOf(step.raw('options.destinationFieldName')) ?? first;
  const keeps = include === 'allOtherFields' || include === 'selectedOtherFields';
  const selected = include === 'selectedOtherFields' ? namesIn(step.text('fieldsToInclude')) : null;
  const id = step.add('core.code', {
    code: `${READ_FIELD}const asList = (value) => Array.isArray(value) ? value : value == null ? [] : typeof value === 'object' ? Object.values(value) : [value];
const { item, fields, name, keeps, selected } = input;
const [first, ...rest] = fields.map((field) => asList(read(item, field)));
const { [fields[0]]: _split, ...others } = item;
const kept = !keeps ? {} : selected === null ? others : Object.fromEntries(selected.map((field) => [field, read(item, field)]));
return first.map((value, at) => {
  const more = Object.fromEntries(rest.map((list, index) => [fields[index + 1], list[at]]));
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && !keeps && rest.length === 0 ? value : { ...kept, [name]: value, ...more };
});`,
    input: {
      item: step.item(),
      fields: [first, ...others],
      name,
      keeps,
      selected: selected === null ? null : [...selected],
    },
  });
  return [step.many(`nodes.${id}.output.result`)];
}

function aggregate(step: Step): readonly Out[] {
  const mode = step.text('aggregate', 'aggregateIndividualFields');
  if (mode === 'aggregateAllItemData') {
    const field = step.text('destinationFieldName', 'data') || 'data';
    const names = namesIn(step.text('fieldsToInclude') || step.text('fieldsToExclude'));
    const include = step.text('include', 'allFields');
    if (include === 'allFields') {
      const id = step.add('core.set', { values: { [field]: listAt(step) } });
      return [step.one(`nodes.${id}.output`)];
    }
    const operation = include === 'specifiedFields' ? 'pick' : 'omit';
    const id = step.add('core.data', { data: listAt(step), steps: [{ operation, fields: [...names] }] });
    return [step.one(`nodes.${id}.output.data`, { [field]: [] })];
  }
  const fields = arrayOf(step.raw('fieldsToAggregate.fieldToAggregate')).map((each) => {
    const field = objectOf(each);
    const from = textOf(field.fieldToAggregate) ?? '';
    const renamed = field.renameField === true ? textOf(field.outputFieldName) : null;
    return { from, to: renamed ?? from.split('.').at(-1) ?? from };
  });
  const id = step.add('core.code', {
    code: `${READ_FIELD}const { items, fields, merges, keepsMissing } = input;
return Object.fromEntries(fields.map(({ from, to }) => {
  const values = items.map((item) => read(item, from)).filter((value) => keepsMissing || value != null);
  return [to, merges ? values.flat() : values];
}));`,
    input: {
      items: listAt(step),
      fields,
      merges: step.raw('options.mergeLists') === true,
      keepsMissing: step.raw('options.keepMissing') === true,
    },
  });
  return [step.one(`nodes.${id}.output.result`)];
}

function limit(step: Step, count: number, keep: string): readonly Out[] {
  const size = Number.isInteger(count) && count >= 0 ? Math.min(count, 1_000_000) : 1;
  if (keep === 'lastItems') return [listBy(step, 'return input.items.slice(-input.count);', { count: size })];
  const id = step.add('core.data', { data: listAt(step), steps: [{ operation: 'limit', count: size }] });
  return [step.many(`nodes.${id}.output.data`)];
}

function sort(step: Step): readonly Out[] {
  const type = step.text('type', 'simple');
  if (type === 'random')
    return [
      listBy(
        step,
        'return input.items.map((item) => [Math.random(), item]).sort(([a], [b]) => a - b).map(([, item]) => item);',
      ),
    ];
  if (type === 'code') return [sortBy(step)];
  const fields = arrayOf(step.raw('sortFieldsUi.sortField') ?? step.raw('sortFieldsUi.fields')).map(objectOf);
  const by = fields.flatMap((each) => {
    const field = textOf(each.fieldName);
    return field === null ? [] : [{ field, direction: each.order === 'descending' ? 'desc' : 'asc' }];
  });
  if (type !== 'simple' || by.length === 0)
    throw new Unmappable(message('import.unknown_operation', { operation: type }));
  const id = step.add('core.data', { data: listAt(step), steps: [{ operation: 'sort', by }] });
  return [step.many(`nodes.${id}.output.data`)];
}

/** By code that holds two items against each other. */
function sortBy(step: Step): Out {
  const code = step.text('code');
  const foreign = foreignPartOf(code);
  if (foreign !== null) throw new Unmappable(message('import.only_in_original', { part: foreign }));
  const id = step.addCode(`return items.sort((a, b) => {\n${code}\n}).map(({ json }) => json);`, {
    input: { items: listAt(step) },
  });
  return step.many(`nodes.${id}.output.result`);
}

function removeDuplicates(step: Step): readonly Out[] {
  const operation = step.text('operation', 'removeDuplicateInputItems');
  if (
    operation === REMEMBERING &&
    step.text('logic', 'removeItemsWithAlreadySeenKeyValues') === 'removeItemsWithAlreadySeenKeyValues'
  )
    return onlyNew(step);
  if (operation !== 'removeDuplicateInputItems') throw new Unmappable(message('import.remembers_items'));
  const compare = step.text('compare', 'allFields');
  if (compare === 'allFieldsExcept')
    throw new Unmappable(message('import.unknown_operation', { operation: compare }));
  const by = compare === 'selectedFields' ? [...namesIn(step.text('fieldsToCompare'))] : [];
  const id = step.add('core.data', { data: listAt(step), steps: [{ operation: 'unique', by }] });
  return [step.many(`nodes.${id}.output.data`)];
}

const REMEMBERING = 'removeItemsSeenInPreviousExecutions';

/** Lets an item through if its value wasn't seen before, in any execution. */
function onlyNew(step: Step): readonly Out[] {
  const value = step.param('dedupeValue', '');
  const prefix = step.compiler.builder.reserve(`${step.node.name} seen`);
  const key = `seen/${prefix}/${typeof value === 'string' ? value : JSON.stringify(value)}`;
  const seen = step.add(
    'data.store',
    { operation: 'set', key, value: true, only_if_absent: true },
    { suffix: 'seen?' },
  );
  const condition = { left: template(`nodes.${seen}.output.written`), operator: 'is_true' };
  const id = step.add('core.if', { conditions: [condition] });
  return [step.pass('true', id), step.pass('false', id)];
}

const FUNCTIONS: { readonly [name: string]: string } = {
  append: 'list',
  average: 'average',
  count: 'count',
  max: 'max',
  min: 'min',
  sum: 'sum',
};

function summarize(step: Step): readonly Out[] {
  const by = [...namesIn(step.text('fieldsToSplitBy'))];
  const joined: { [name: string]: JsonValue }[] = [];
  const values = arrayOf(step.raw('fieldsToSummarize.values')).map((each) => {
    const value = objectOf(each);
    const aggregation = textOf(value.aggregation) ?? 'count';
    const isJoined = aggregation === 'concatenate';
    const name = isJoined ? 'list' : own(FUNCTIONS, aggregation);
    if (name === undefined)
      throw new Unmappable(message('import.unknown_operation', { operation: aggregation }));
    const field = textOf(value.field) ?? '';
    const prefix = own(PREFIXES, aggregation) ?? aggregation;
    const made = `${prefix}_${field.replaceAll('.', '_')}`;
    if (isJoined) joined.push({ name: made, by: separatorOf(step, value) });
    return { function: name, field, name: made };
  });
  const id = step.add('core.data', { data: listAt(step), steps: [{ operation: 'aggregate', by, values }] });
  const output = (path: string) => [by.length === 0 ? step.one(path) : step.many(path)];
  if (joined.length === 0) return output(`nodes.${id}.output.data`);
  const texts = step.add(
    'core.code',
    { code: JOIN, input: { data: template(`nodes.${id}.output.data`), joined } },
    { suffix: 'texts' },
  );
  return output(`nodes.${texts}.output.result`);
}

/** How n8n names what it aggregates, where not by the function. */
const PREFIXES: { readonly [aggregation: string]: string } = {
  append: 'appended',
  concatenate: 'concatenated',
};

const JOIN = `const text = (values) => (values ?? []).filter((value) => value != null && value !== '').map((value) => typeof value === 'object' ? JSON.stringify(value) : String(value));
const joined = (item) => ({ ...item, ...Object.fromEntries(input.joined.map(({ name, by }) => [name, text(item[name]).join(by)])) });
return Array.isArray(input.data) ? input.data.map(joined) : joined(input.data);`;

/** What stands between joined texts. */
function separatorOf(step: Step, value: JsonObject): JsonValue {
  const separator = typeof value.separateBy === 'string' ? value.separateBy : ',';
  return separator === 'other' ? step.value(value.customSeparator ?? '') : separator;
}

function itemListsTakes(operation: JsonValue | undefined): 'item' | 'list' {
  return operation === undefined || operation === 'splitOutItems' ? 'item' : 'list';
}

function itemLists(step: Step): readonly Out[] {
  const operation = step.text('operation', 'splitOutItems');
  const run: { readonly [operation: string]: () => readonly Out[] } = {
    splitOutItems: () => splitOut(step, step.text('fieldToSplitOut'), step.text('include')),
    aggregateItems: () => aggregate(step),
    concatenateItems: () => aggregate(step),
    limit: () => limit(step, Number(step.raw('maxItems') ?? 1), step.text('keep', 'firstItems')),
    sort: () => sort(step),
    summarize: () => summarize(step),
    removeDuplicates: () => removeDuplicates(step),
  };
  const found = own(run, operation);
  if (found === undefined) throw new Unmappable(message('import.unknown_operation', { operation }));
  return found();
}

const MERGES: { readonly [mode: string]: string } = {
  position: `const [left, right] = input.lists.map((list) => list ?? []);
const length = input.keepsAll ? Math.max(left.length, right.length) : Math.min(left.length, right.length);
return Array.from({ length }, (_, at) => ({ ...left[at], ...right[at] }));`,
  all: 'const [left, right] = input.lists.map((list) => list ?? []);\nreturn left.flatMap((one) => right.map((other) => ({ ...one, ...other })));',
  fields: `${READ_FIELD}const [left, right] = input.lists.map((list) => list ?? []);
const same = (one, other) => input.fields.every(([a, b]) => read(one, a) !== undefined && String(read(one, a)) === String(read(other, b)));
const pairs = left.flatMap((one) => right.filter((other) => same(one, other)).map((other) => ({ ...one, ...other })));
const lonely = (list, others, flip) => list.filter((one) => !others.some((other) => flip ? same(other, one) : same(one, other)));
const enriched = (list, others, flip) => list.map((one) => ({ ...one, ...others.find((other) => flip ? same(other, one) : same(one, other)) }));
switch (input.join) {
  case 'keepNonMatches': return [...lonely(left, right), ...lonely(right, left, true)];
  case 'keepEverything': return [...pairs, ...lonely(left, right), ...lonely(right, left, true)];
  case 'keepFirstNonMatches': return lonely(left, right);
  case 'enrichInput1': return enriched(left, right);
  case 'enrichInput2': return enriched(right, left, true);
  default: return pairs;
}`,
};

function merge(step: Step): readonly Out[] {
  const { version } = step.node;
  const mode = step.text('mode', 'append');
  if (mode === 'append') {
    step.add('core.merge', { mode: 'first' });
    return [step.pass()];
  }
  const refs = step.inputs.filter((ref): ref is Ref => ref != null);
  if (mode === 'chooseBranch' || mode === 'wait' || mode === 'passThrough') return chooseInput(step);
  const how = howToMerge(step, mode, version);
  if (how === null) throw new Unmappable(message('import.unknown_operation', { operation: mode }));
  const areOnes = refs.every((ref) => ref.kind === 'one');
  const id = step.add('core.code', {
    code: MERGES[how.code] ?? '',
    input: { lists: step.inputs.map((_, input) => presentItems(step, input)), ...how.more },
  });
  const path = `nodes.${id}.output.result`;
  const isOne = areOnes && refs.length > 0 && (how.code === 'position' || how.code === 'all');
  if (isOne) for (const ref of refs) step.compiler.noteReadAsOne(ref);
  return [isOne ? step.one(`${path}[0]`) : step.many(path)];
}

/** What version 1 did with items of the same key. */
const KEY_JOINS: { readonly [mode: string]: string } = {
  mergeByKey: 'enrichInput1',
  removeKeyMatches: 'keepFirstNonMatches',
};

/** The items of an input; null if its branch wasn't taken. */
function presentItems(step: Step, input: number): JsonValue {
  const ref = step.inputs[input];
  if (ref == null) return [];
  if (ref.kind === 'many') return template(step.compiler.pathIn(ref, step.scope));
  const label = `${step.node.name}: input ${input + 1}`;
  const id = step.compiler.add(step.node, {
    type: 'core.set',
    label,
    config: { values: { items: step.compiler.listIn(ref, step.scope) } },
    scope: step.scope,
    after: step.arrivals[input] ?? [],
  });
  step.continueFrom([...step.after, { id, handle: 'out' }]);
  return template(`nodes.${id}.output.items`);
}

function howToMerge(
  step: Step,
  mode: string,
  version: number,
): { readonly code: string; readonly more: { [name: string]: JsonValue } } | null {
  const older = step.text('combinationMode', version >= 3 ? 'combineByFields' : 'mergeByFields');
  // What version 2 wrote is kept when a node is updated.
  const combineBy = version >= 3 ? step.text('combineBy', older) : older;
  const chosen = mode === 'combine' ? combineBy : mode;
  switch (chosen) {
    case 'combineByPosition':
    case 'mergeByPosition':
    case 'mergeByIndex':
      return { code: 'position', more: { keepsAll: step.raw('options.includeUnpaired') === true } };
    case 'combineAll':
    case 'multiplex':
      return { code: 'all', more: {} };
    case 'combineByFields':
    case 'mergeByFields': {
      const simple = namesIn(step.text('fieldsToMatchString')).map((name) => [name, name]);
      const pairs = arrayOf(step.raw('mergeByFields.values')).map((each) => {
        const { field1, field2 } = objectOf(each);
        return [textOf(field1) ?? '', textOf(field2) ?? textOf(field1) ?? ''];
      });
      const fields = [...simple, ...pairs];
      if (fields.length === 0) return null;
      const join = step.text('joinMode', 'keepMatches');
      const kept = step.text('outputDataFrom', 'both');
      const isFirst = join === 'keepNonMatches' && kept === 'input1';
      return { code: 'fields', more: { fields, join: isFirst ? 'keepFirstNonMatches' : join } };
    }
    case 'mergeByKey':
    case 'keepKeyMatches':
    case 'removeKeyMatches':
      return {
        code: 'fields',
        more: {
          fields: [[step.text('propertyName1'), step.text('propertyName2')]],
          join: KEY_JOINS[mode] ?? 'keepMatches',
        },
      };
    default:
      return null;
  }
}

/** Waits for all inputs and passes one of them on. */
function chooseInput(step: Step): readonly Out[] {
  const wanted = Number(step.raw('useDataOfInput') ?? 1);
  const index =
    step.text('output') === 'input2' ? 1 : Number.isInteger(wanted) && wanted > 0 ? wanted - 1 : 0;
  const ref = step.inputs[index] ?? step.inputs.find((each) => each != null);
  const id = step.add('core.merge', { mode: 'all' });
  if (ref == null || step.text('output') === 'empty') return [step.one(`nodes.${id}.output`)];
  return [{ exit: { id, handle: 'out' }, ref }];
}

/** A loop of the original. Its results are what leads back to it. */
function splitInBatches(step: Step): readonly Out[] {
  const size = Number(step.raw('batchSize') ?? (step.node.version >= 3 ? 1 : 10));
  const count = Number.isInteger(size) && size > 1 ? Math.min(size, 1_000_000) : 1;
  let items = listAt(step);
  if (count > 1) {
    const chunks = step.add(
      'core.data',
      { data: items, steps: [{ operation: 'chunk', size: count }] },
      { suffix: 'batches' },
    );
    items = template(`nodes.${chunks}.output.data`);
  }
  const id = step.add('core.for_each', { items });
  const scope: Scope = { id, parent: step.scope, kind: 'batch', list: '' };
  const { loop } = batchOutputs(step.node);
  const round: Out = {
    exit: { id: '', handle: 'out' },
    ref:
      count > 1 || step.inputs[0] == null
        ? { kind: count > 1 ? 'many' : 'one', path: 'item', scope, owner: null }
        : step.compiler.itemOf(step.inputs[0], scope),
  };
  const done: Out = {
    exit: { id, handle: 'out' },
    ref: { kind: 'many', path: `nodes.${id}.output.items`, scope: step.scope, owner: id },
  };
  return loop === 0 ? [round, done] : [done, round];
}
