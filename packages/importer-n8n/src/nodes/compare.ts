import type { JsonValue } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { forItem, forList, type Handlers } from '../handler.ts';
import { arrayOf, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { passOn } from './core.ts';
import { listAt, READ_FIELD } from './lists.ts';

/** Nodes that hold lists against each other, and the one of n8n's own tests. */
export const COMPARED: Handlers = {
  compareDatasets: forList(compare),
  evaluation: forItem(evaluate, { isRouter: true }),
};

/** What the four outputs are: only in A, in both and the same, in both and different, only in B. */
const COMPARE = `${READ_FIELD}const [left, right] = input.lists, { fields, skipped, isLoose, resolve } = input;
const text = (value) => isLoose ? String(value ?? '') : JSON.stringify(value ?? null);
const fits = (one, other) => fields.every(([a, b]) => text(read(one, a)) === text(read(other, b)));
const names = (one, other) => [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((name) => !skipped.includes(name));
const same = [], different = [], met = new Set();
for (const one of left) {
  const at = right.findIndex((other, index) => !met.has(index) && fits(one, other));
  if (at < 0) continue;
  met.add(at);
  const other = right[at], changed = names(one, other).filter((name) => text(one[name]) !== text(other[name]));
  if (changed.length === 0) { same.push(resolve === 'preferInput2' ? other : one); continue; }
  different.push(resolve === 'preferInput1' ? one : resolve === 'preferInput2' ? other : {
    keys: Object.fromEntries(fields.map(([a]) => [a, read(one, a)])),
    same: Object.fromEntries(names(one, other).filter((name) => !changed.includes(name)).map((name) => [name, one[name]])),
    different: Object.fromEntries(changed.map((name) => [name, { inputA: one[name] ?? null, inputB: other[name] ?? null }])),
  });
}
const onlyLeft = left.filter((one) => !right.some((other) => fits(one, other)));
return { a: onlyLeft, same, different, b: right.filter((other) => !left.some((one) => fits(one, other))) };`;

function compare(step: Step): readonly Out[] {
  const fields = arrayOf(step.raw('mergeByFields.values')).map((each): JsonValue => {
    const { field1, field2 } = objectOf(each);
    return [textOf(field1) ?? '', textOf(field2) ?? textOf(field1) ?? ''];
  });
  const resolve = step.text('resolve', step.node.version >= 2.3 ? 'preferInput1' : 'includeBoth');
  if (fields.length === 0 || resolve === 'mix')
    throw new Unmappable(message('import.unknown_operation', { operation: resolve }));
  const skipped = step.text('options.skipFields').split(',');
  const id = step.add('core.code', {
    code: COMPARE,
    input: {
      lists: [listAt(step, 0), listAt(step, 1)],
      fields,
      skipped: skipped.map((name) => name.trim()),
      isLoose: step.raw('fuzzyCompare') === true || step.raw('options.fuzzyCompare') === true,
      resolve,
    },
  });
  return ['a', 'same', 'different', 'b'].map((name) => step.many(`nodes.${id}.output.result.${name}`));
}

/** Executions are never tests of n8n: what isn't done in tests is passed over. */
function evaluate(step: Step): readonly Out[] {
  step.approximate(message('import.not_needed'));
  if (step.text('operation', 'setOutputs') !== 'checkIfEvaluating') return passOn(step);
  const id = step.add('core.if', { conditions: [{ left: false, operator: 'is_true' }] });
  return [step.pass('true', id), step.pass('false', id)];
}
