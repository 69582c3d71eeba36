import type { JsonObject, JsonValue, Work } from '@millrace/engine';
import { extend, isWithin, MISSING, operand, quote, type Scope, template } from '@millrace/importer-kit/refs';
import { Unmappable } from '@millrace/importer-kit/unmappable';
import { arrayOf, asText, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import { KEPT_S } from '../../direct/conversation.ts';
import { DirectStep, type Made, type Make } from '../../direct/maker.ts';
import { anyValue, contextOf, namesIn, selected, variableValue } from '../values.ts';
import { caseConditions } from './conditions.ts';
import { variablesEntry } from './core.ts';
import { withError } from './errors.ts';

/** Loops, and the values that change in them. */
export const LOOPS: { readonly [type: string]: Make } = {
  iteration: iterate,
  loop: repeat,
  'iteration-start': beginning,
  'loop-start': beginning,
  'loop-end': leaveLoop,
  assigner: withError(assign),
};

/** Only marks where the body begins. */
function beginning(step: DirectStep): Made {
  return step.result(() => null);
}

/** The nodes in a loop that nothing in it leads to. */
function rootsOf(step: DirectStep) {
  const children = step.maker.childrenOf(step.origin.id);
  const ids = new Set(children.map(({ id }) => id));
  const reached = new Set(step.maker.flow.links.filter(({ from }) => ids.has(from)).map(({ to }) => to));
  const roots = children.filter(({ id }) => !reached.has(id));
  if (roots.length === 0) throw new Unmappable(message('import.empty_loop'));
  return roots;
}

function* iterate(step: DirectStep): Work<Made> {
  const { data, maker } = step;
  const parallel = data.is_parallel === true ? Number(data.parallel_nums ?? 10) : 1;
  const mode = textOf(data.error_handle_mode) ?? 'terminated';
  const collects = mode === 'continue-on-error' || mode === 'remove-abnormal-output';
  const roots = rootsOf(step);
  const id = step.add('core.for_each', {
    items: template(selected(step, data.iterator_selector)),
    ...(Number.isInteger(parallel) && parallel > 1 ? { concurrency: Math.min(parallel, 100) } : {}),
    ...(collects ? { on_item_error: 'collect' } : {}),
  });
  const scope: Scope = { id, parent: step.scope, kind: 'items', list: '' };
  const items =
    mode === 'remove-abnormal-output'
      ? `nodes.${id}.output.items | where: (it != null)`
      : `nodes.${id}.output.items`;
  const result = step.result(([name = '', ...rest], reader) => {
    if (name === 'output') return rest.length === 0 ? items : null;
    if ((name !== 'item' && name !== 'index') || !isWithin(reader.scope, scope)) return null;
    return extend(reader.scope === scope ? name : captured(step, scope, name), rest);
  });
  maker.made.set(step.origin.id, result);
  yield* maker.makeLevel(roots, scope);
  const config = maker.builder.config(id);
  const output = atEnd(step, scope, data.output_selector);
  if (config !== undefined && output !== null) config.result = template(output);
  else step.approximate(message('import.member_missing', { member: 'output' }));
  return result;
}

/** The item or position of a loop for a node in a loop inside it. */
function captured(step: DirectStep, scope: Scope, name: string): string {
  const item = step.maker.builder.capture(scope);
  return name === 'item' ? item : item.replace(/item$/, 'index');
}

/** What a selector finds when a round of a loop has ended. */
function atEnd(step: DirectStep, scope: Scope, selector: JsonValue | undefined): string | null {
  const [first, ...rest] = namesIn(selector) ?? [];
  if (first === undefined) return null;
  return step.maker.made.get(first)?.read(rest, step.at(scope)) ?? null;
}

/** A loop whose variables each round passes on to the next. */
function* repeat(step: DirectStep): Work<Made> {
  const { data, maker } = step;
  const count = Number(data.loop_count ?? 10);
  const variables = arrayOf(data.loop_variables).map(objectOf);
  const initial = new Map<string, JsonValue>(
    variables.flatMap((each): [string, JsonValue][] => {
      const name = textOf(each.label);
      return name === null ? [] : [[name, initialOf(step, each)]];
    }),
  );
  const changed = conversationIn(step);
  for (const name of changed) initial.set(`conversation ${name}`, template(variableValue(step, name)));
  const roots = rootsOf(step);
  const before = step.add('core.set', { values: numbered(initial) }, { suffix: 'variables' });
  const id = step.add('core.repeat', {
    until: [{ left: '', operator: 'exists' }],
    max_iterations: Number.isInteger(count) && count >= 1 ? Math.min(count, 10_000) : 10,
    on_limit: 'continue',
  });
  const scope: Scope = { id, parent: step.scope, kind: 'items', list: '' };
  const inner = new DirectStep(maker, step.origin, scope, []);
  const names = [...initial.keys()];
  const current = inner.add(
    'core.set',
    {
      values: Object.fromEntries(
        names.map((_, index) => [
          `v${index + 1}`,
          template(`index == 0 ? nodes.${before}.output.v${index + 1} : item.v${index + 1}`),
        ]),
      ),
    },
    { suffix: 'current' },
  );
  const exit = inner.after;
  for (const [index, name] of names.entries())
    maker.variables.write(variableKey(step, name), `nodes.${current}.output.v${index + 1}`, scope, {
      isSure: true,
    });
  const place = (name: string) => `nodes.${id}.output.last.v${names.indexOf(name) + 1}`;
  const made = step.result(([name = '', ...rest], reader) => {
    const isInside = isWithin(reader.scope, scope);
    if (name === 'loop_round') return isInside ? 'index + 1' : `nodes.${id}.output.iterations`;
    if (!initial.has(name)) return null;
    if (!isInside) return extend(place(name), rest);
    const path = maker.variables.read(variableKey(step, name), reader);
    return (
      path
        ?.split(' ?? ')
        .map((each) => extend(each, rest))
        .join(' ?? ') ?? null
    );
  });
  maker.made.set(step.origin.id, made);
  const order = yield* maker.makeLevel(roots, scope, exit);
  const ends = order
    .filter(({ type }) => type === 'loop-end')
    .flatMap((origin) => maker.made.get(origin.id)?.exit.id ?? []);
  const config = maker.builder.config(id);
  if (config !== undefined) {
    config.result = Object.fromEntries(
      names.map((name, index) => [
        `v${index + 1}`,
        template(maker.variables.atEnd(variableKey(step, name), scope) ?? MISSING),
      ]),
    );
    const isDone = arrayOf(data.break_conditions).length > 0;
    if (isDone) step.approximate(message('import.loop_runs_once'));
    const until = isDone
      ? caseConditions(step.at(scope), {
          conditions: data.break_conditions ?? [],
          logical_operator: data.logical_operator ?? 'and',
        })
      : { conditions: [] as readonly JsonValue[], combine: 'any' as const };
    const left = ends.map((end) => ({ left: template(`nodes.${end}.output.left`), operator: 'is_true' }));
    if (left.length > 0 && isDone && until.combine === 'all' && until.conditions.length > 1)
      throw new Unmappable(message('import.unknown_operation', { operation: 'loop-end' }));
    const all = [...until.conditions, ...left];
    config.until = all.length === 0 ? [{ left: '{{index}}', operator: 'less_than', right: 0 }] : all;
    config.combine = left.length > 0 ? 'any' : until.combine;
  }
  for (const name of changed)
    maker.variables.write(`conversation ${name}`, place(`conversation ${name}`), step.scope);
  return made;
}

function variableKey(step: DirectStep, name: string): string {
  return name.startsWith('conversation ') ? name : `${step.origin.id} ${name}`;
}

function numbered(values: ReadonlyMap<string, JsonValue>): { [name: string]: JsonValue } {
  return Object.fromEntries([...values.values()].map((value, index) => [`v${index + 1}`, value]));
}

function initialOf(step: DirectStep, variable: JsonObject): JsonValue {
  if (variable.value_type === 'variable') return template(selected(step, variable.value));
  return anyValue(step, variable.value ?? null);
}

/** The variables of the conversation that nodes in a loop change. */
function conversationIn(step: DirectStep): readonly string[] {
  const found = new Set<string>();
  for (const child of step.maker.childrenOf(step.origin.id))
    if (child.type === 'assigner')
      for (const { target } of changesOf(child.data))
        if (target[0] === 'conversation') found.add(target[1] ?? '');
  return [...found].filter((name) => contextOf(step).app.conversation.some((each) => each.name === name));
}

/** Ends the loop after this round. */
function leaveLoop(step: DirectStep): Made {
  const id = step.add('core.set', { values: { left: true } });
  return { scope: step.scope, exits: {}, exit: { id, handle: 'out' }, read: () => null };
}

interface Change {
  readonly target: readonly string[];
  readonly operation: string;
  readonly isVariable: boolean;
  readonly value: JsonValue;
}

/** What a node assigns; older ones have a single assignment. */
function changesOf(data: JsonObject): readonly Change[] {
  const items = arrayOf(data.items).map(objectOf);
  if (items.length > 0)
    return items.map((each) => ({
      target: namesIn(each.variable_selector) ?? [],
      operation: textOf(each.operation) ?? 'over-write',
      isVariable: each.input_type === 'variable',
      value: each.value ?? null,
    }));
  return [
    {
      target: namesIn(data.assigned_variable_selector) ?? [],
      operation: textOf(data.write_mode) ?? 'over-write',
      isVariable: true,
      value: data.input_variable_selector ?? null,
    },
  ];
}

function assign(step: DirectStep): Made {
  const { maker } = step;
  const changes = changesOf(step.data).map((change) => ({ ...change, key: keyOf(step, change.target) }));
  const values = Object.fromEntries(
    changes.map((change, index) => [`v${index + 1}`, newValue(step, change)]),
  );
  const id = step.add('core.set', { values });
  const inIteration =
    step.origin.parent !== null && maker.flow.origins.get(step.origin.parent)?.type === 'iteration';
  if (inIteration) step.approximate(message('import.assigned_in_iteration'));
  for (const [index, { key }] of changes.entries())
    maker.variables.write(key, `nodes.${id}.output.v${index + 1}`, step.scope);
  const isLasting = changes.some(({ target }) => target[0] === 'conversation');
  if (isLasting) {
    const names = contextOf(step).app.conversation.map(({ name }) => name);
    step.approximate(message('import.own_store'));
    step.add(
      'data.store',
      {
        operation: 'set',
        key: variablesEntry(step),
        value: Object.fromEntries(names.map((name) => [name, template(variableValue(step, name))])),
        expires_in_s: KEPT_S,
      },
      { suffix: 'remember' },
    );
  }
  return step.result(() => null);
}

function keyOf(step: DirectStep, [first = '', name = '']: readonly string[]): string {
  const isKnown = first === 'conversation' || step.maker.flow.origins.get(first)?.type === 'loop';
  if (!isKnown || name === '')
    throw new Unmappable(message('import.reads_unknown', { node: [first, name].join('.') }));
  return `${first} ${name}`;
}

function newValue(
  step: DirectStep,
  { key, target, operation, isVariable, value }: Change & { readonly key: string },
): JsonValue {
  const now = operand(step.maker.variables.read(key, step) ?? MISSING);
  const given = () => (isVariable ? operand(selected(step, value)) : constant(step, value));
  switch (operation) {
    case 'over-write':
    case 'set':
      return isVariable ? template(selected(step, value)) : anyValue(step, value);
    case 'clear':
      return emptyOf(step, target);
    case 'append':
    case 'extend':
      return template(`${now} | concat: ${given()}`);
    case 'remove-first':
      return template(`${now} | slice: 1`);
    case 'remove-last':
      return template(`${now} | slice: 0, -1`);
    case '+=':
    case '-=':
    case '*=':
    case '/=':
      return template(`${now} ${operation[0] ?? '+'} ${given()}`);
    default:
      throw new Unmappable(message('import.unknown_operation', { operation }));
  }
}

function constant(step: DirectStep, value: JsonValue): string {
  const text = anyValue(step, value);
  if (typeof text === 'string') {
    const [, inside] = /^\{\{((?:(?!\}\}).)*)\}\}$/s.exec(text) ?? [];
    if (inside !== undefined) return operand(inside);
    return text.trim() !== '' && Number.isFinite(Number(text)) ? text.trim() : quote(asText(value));
  }
  return typeof text === 'object' && text !== null
    ? `(${quote(JSON.stringify(value))} | parse_json)`
    : String(text);
}

/** What a variable is when it is cleared. */
function emptyOf(step: DirectStep, [first = '', name = '']: readonly string[]): JsonValue {
  const variable =
    first === 'conversation'
      ? contextOf(step).app.conversation.find((each) => each.name === name)?.type
      : textOf(
          objectOf(
            arrayOf(step.maker.flow.origins.get(first)?.data.loop_variables).find(
              (each) => objectOf(each).label === name,
            ),
          ).var_type,
        );
  const type = variable ?? 'string';
  if (type.startsWith('array')) return [];
  if (type === 'object') return {};
  return type === 'number' ? 0 : type === 'boolean' ? false : '';
}
