import type { Flow, JsonValue, Work } from '@millrace/engine';
import type { NodeExtras } from '@millrace/importer-kit/flow-builder';
import { asList, listScope, type Scope, template } from '@millrace/importer-kit/refs';
import { type ImportedWorkflow, Report } from '@millrace/importer-kit/report';
import { withoutSecrets } from '@millrace/importer-kit/secrets';
import { type Message, message } from '@millrace/messages';
import { type Arrival, Compiler, type Out } from './compiler.ts';
import { isTrigger, type Started, startedBy, triggersOf } from './graph.ts';
import type { Handler, Handlers } from './handler.ts';
import { withItemSettings } from './item-settings.ts';
import { reportLeftOut } from './left-out.ts';
import { answerWith } from './nodes/answers.ts';
import { COMPARED } from './nodes/compare.ts';
import { CORE } from './nodes/core.ts';
import { CRYPTO } from './nodes/crypto.ts';
import { FILES } from './nodes/files.ts';
import { HTTP } from './nodes/http.ts';
import { IMAGES } from './nodes/images.ts';
import { withAttachments } from './nodes/late-files.ts';
import { LISTS } from './nodes/lists.ts';
import { modelNodes } from './nodes/models.ts';
import { OUTSIDE } from './nodes/outside.ts';
import { TEXTS } from './nodes/texts.ts';
import {
  addTrigger,
  keepWhatIsRead,
  repeatTimes,
  separateWebhooks,
  type Triggered,
} from './nodes/triggers.ts';
import { VECTORS } from './nodes/vectors.ts';
import { resumed } from './nodes/wait-call.ts';
import { at, isPart, placeBackLinks, placeholder, skip } from './placeholders.ts';
import { meantKind, type N8nNode, type N8nPart, type N8nWorkflow, readN8n } from './read.ts';
import { Repeats } from './repeats.ts';
import { announcesWait } from './resume.ts';
import { settingsOf } from './settings.ts';
import { Step, Unmappable } from './step.ts';

/** What an agent can call as a tool, too. */
const PLAIN: Handlers = {
  ...COMPARED,
  ...CORE,
  ...CRYPTO,
  ...FILES,
  ...IMAGES,
  ...HTTP,
  ...LISTS,
  ...OUTSIDE,
  ...TEXTS,
};

const HANDLERS: Handlers = { ...PLAIN, ...VECTORS, ...modelNodes(PLAIN) };

/** What was made from a workflow of n8n. */
export interface N8nImport {
  readonly name: string;
  readonly workflows: readonly ImportedWorkflow[];
  readonly report: Report;
}

/** Triggers of a workflow. */
const MAX_TRIGGERS = 20;

/** Makes a Millrace workflow from an n8n export, with all of its triggers; none if there are no triggers. */
export function* importN8n(value: JsonValue): Work<N8nImport> {
  const report = new Report();
  yield 1;
  const { workflow, findings } = yield* clean(readN8n(value));
  const triggers = triggersOf(workflow);
  for (const trigger of triggers.slice(MAX_TRIGGERS))
    report.dropped(at(trigger), message('import.triggers_left_out', { max: MAX_TRIGGERS }));
  yield 1;
  const started = startedBy(triggers.slice(0, MAX_TRIGGERS), workflow);
  const workflows: ImportedWorkflow[] =
    triggers.length === 0
      ? []
      : [{ name: workflow.name, flow_data: yield* compile(workflow, started, report) }];
  yield* reportRest(workflow, report);
  for (const { node, what } of findings) report.approximated(at(node), what);
  return { name: workflow.name, workflows, report };
}

interface Finding {
  readonly node: N8nNode;
  readonly what: Message;
}

/** Without secrets that were written into it, and what was found in its nodes. */
function* clean(
  workflow: N8nWorkflow,
): Work<{ readonly workflow: N8nWorkflow; readonly findings: readonly Finding[] }> {
  const nodes = new Map<string, N8nNode>();
  const findings: Finding[] = [];
  for (const [name, node] of workflow.nodes) {
    const { value, found } = withoutSecrets(node.parameters);
    if (found) findings.push({ node, what: message('import.secret_removed') });
    const meant = meantKind(node.type);
    if (meant !== null)
      findings.push({ node, what: message('import.nearest_node', { type: node.type, nearest: meant }) });
    nodes.set(name, { ...node, parameters: value });
    yield 1;
  }
  return { workflow: { ...workflow, nodes }, findings };
}

function* compile(workflow: N8nWorkflow, started: Started, report: Report): Work<Flow> {
  yield 1;
  const compiler = new Compiler({ workflow, started, report });
  const repeats = new Repeats(compiler);
  compiler.repeats = repeats;
  const triggered: Triggered[] = [];
  for (const trigger of started.triggers) {
    const added = addTrigger(compiler, trigger);
    report.mapped(at(trigger));
    compiler.outs.set(trigger.name, added.outs);
    const isRouter = added.outs.length > 1;
    if (started.triggers.length > 1) compiler.guards.noteTrigger(trigger.name, isRouter);
    else compiler.guards.note(trigger.name, isRouter);
    triggered.push(added);
  }
  separateWebhooks(compiler, triggered);
  const triggers = new Set(started.triggers);
  for (const node of started.order) {
    if (triggers.has(node)) continue;
    report.mapped(at(node));
    const outs = compileNode(compiler, node);
    compiler.outs.set(node.name, outs);
    yield 1;
  }
  for (const node of started.order) {
    if (node.kind !== 'splitInBatches') continue;
    compiler.finishBatches(node);
    yield 1;
  }
  placeBackLinks(compiler, repeats);
  yield 1;
  for (const each of triggered) {
    answerWith(compiler, each);
    keepWhatIsRead(compiler, each);
    yield 1;
  }
  repeatTimes(compiler, triggered, MAX_TRIGGERS);
  compiler.builder.fillEmptyLoops();
  yield 1;
  const settings = settingsOf(compiler);
  yield 1;
  return compiler.builder.flow(settings);
}

function compileNode(compiler: Compiler, node: N8nNode): readonly Out[] {
  const handler = Object.hasOwn(HANDLERS, node.kind) ? HANDLERS[node.kind] : undefined;
  compiler.guards.note(node.name, handler?.isRouter === true || branchesOnError(node));
  const arrival = compiler.arrivalAt(node);
  if (arrival === null) return placeholder(compiler, node, null, message('import.nothing_arrives'));
  if (node.raw.disabled === true || isPart(node)) return skip(compiler, node, arrival);
  if (handler === undefined) return placeholder(compiler, node, arrival, message('import.unknown_node'));
  const rollBack = compiler.mark();
  try {
    return run(compiler, node, handler);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === null) throw error;
    rollBack();
    return placeholder(compiler, node, compiler.arrivalAt(node), reason);
  }
}

/** Why a node can't be made; null for any other error. A RangeError comes from a value nested deeper than the stack allows. */
function reasonOf(error: unknown): Message | null {
  if (error instanceof Unmappable) return error.reason;
  return error instanceof RangeError ? message('import.expression_unreadable') : null;
}

function branchesOnError({ raw }: N8nNode): boolean {
  return raw.onError === 'continueErrorOutput';
}

function run(compiler: Compiler, node: N8nNode, handler: Handler): readonly Out[] {
  const takes = typeof handler.takes === 'function' ? handler.takes(node) : handler.takes;
  const step =
    takes === 'list' ? listStep(compiler, node, handler) : itemStep(compiler, node, takes === 'join');
  const made = handler.run(step);
  noteOutputs(compiler, node, made.length);
  const own = announcesWait(compiler, node) ? resumed(step) : made;
  const items = withItemSettings(step, own, handler.isRouter === true || branchesOnError(node));
  const outs = keepingFiles(step, items).map((out) => withAttachments(compiler, node, out));
  if (!branchesOnError(node) || step.mainId === null) return outs;
  const error: Out = {
    exit: { id: step.mainId, handle: 'error' },
    ref: {
      kind: 'one',
      path: `nodes.${step.mainId}.output`,
      scope: step.scope,
      owner: step.mainId,
      shape: {
        'error.message': ['error', 'message'],
        error: ['error', 'message'],
        message: ['error', 'message'],
      },
    },
  };
  return [...outs, error];
}

/** Reports what follows outputs that a node doesn't have: in n8n it never runs. */
function noteOutputs(compiler: Compiler, node: N8nNode, count: number): void {
  const last = branchesOnError(node) ? count : count - 1;
  const isMore = compiler.started.links.some(({ from, output }) => from === node.name && output > last);
  if (isMore && count === 1) compiler.approximate(node, message('import.no_such_output'));
}

/** Nodes whose items keep the files of those that arrive. */
const KEEPS_FILES = new Set(['set', 'merge', 'renameKeys', 'dateTime', 'noOp', 'wait', 'markdown']);

function keepingFiles(step: Step, outs: readonly Out[]): readonly Out[] {
  if (!KEEPS_FILES.has(step.node.kind)) return outs;
  const files = [step.input, ...step.inputs].map((ref) => (ref?.kind === 'one' ? ref.files : undefined));
  if (files.every((each) => each === undefined)) return outs;
  const all: { readonly [name: string]: string } = Object.assign({}, ...files);
  return outs.map((out) => (out.ref.kind === 'one' ? { ...out, ref: { ...out.ref, files: all } } : out));
}

/** Nodes that pass on what arrives without reading it. */
const READS_NOTHING = new Set(['noOp', 'merge', 'executionData']);

function itemStep(compiler: Compiler, node: N8nNode, isJoin: boolean): Step {
  const arrival = compiler.arrivalAt(node);
  if (arrival === null) throw new Unmappable(message('import.nothing_arrives'));
  const { ref, exits } = arrival;
  const extras = extrasOf(node);
  if (ref.kind === 'one' && !READS_NOTHING.has(node.kind)) compiler.noteReadAsOne(ref);
  if (isJoin || ref.kind === 'one')
    return new Step(compiler, node, { scope: ref.scope, input: ref, after: exits, extras });
  if (node.raw.executeOnce === true) {
    const first = firstOf(compiler, node, arrival);
    return new Step(compiler, node, { scope: ref.scope, input: first.ref, after: first.exits, extras });
  }
  const scope = compiler.openLoop(node, arrival);
  const input = compiler.itemOf(ref, scope);
  return new Step(compiler, node, { scope, input, after: [], extras });
}

/** The first item of a list; nothing follows if there is none. */
function firstOf(compiler: Compiler, node: N8nNode, arrival: Arrival): Arrival {
  const { ref } = arrival;
  const guarded = ifAny(compiler, node, arrival);
  const id = compiler.add(node, {
    type: 'core.set',
    label: `${node.name}: first item`,
    config: { values: { item: template(`${ref.path} | first`) } },
    scope: ref.scope,
    after: guarded,
  });
  return {
    ref: { kind: 'one', path: `nodes.${id}.output.item`, scope: ref.scope, owner: id },
    exits: [{ id, handle: 'out' }],
  };
}

/** A branch that is taken if there are items at all: n8n runs no node without any. */
function ifAny(compiler: Compiler, node: N8nNode, { ref, exits }: Arrival) {
  // Nothing isn't an empty list: the response to a call may have no content.
  const list = ref.perhapsMany === undefined ? ref.path : asList(`${ref.path} ?? ""`);
  const id = compiler.add(node, {
    type: 'core.if',
    label: `${node.name}: any items?`,
    config: { conditions: [{ left: template(`${list} | length`), operator: 'greater_than', right: 0 }] },
    scope: ref.scope,
    after: exits,
  });
  return [{ id, handle: 'true' }];
}

function listStep(compiler: Compiler, node: N8nNode, handler: Handler): Step {
  const inputs = new Set(compiler.linksInto(node.name).map(({ input }) => input));
  const count = Math.max(0, ...inputs) + 1;
  const isMulti = count > 1;
  const arrivals = Array.from({ length: isMulti ? count : 1 }, (_, input) =>
    inputs.has(input) ? compiler.arrivalAt(node, isMulti ? input : null) : null,
  );
  const known = arrivals.filter((arrival): arrival is Arrival => arrival !== null);
  const scope = known.reduce<Scope | null>((all, { ref }) => {
    const own = listScope(ref.scope);
    return all === null || depthOf(own) < depthOf(all) ? own : all;
  }, null);
  if (scope === null) throw new Unmappable(message('import.nothing_arrives'));
  const settled = arrivals.map((arrival) =>
    arrival === null ? null : settle(compiler, node, arrival, scope),
  );
  const [first] = settled;
  const exits = settled.flatMap((arrival) => arrival?.exits ?? []);
  const isList = first?.ref.kind === 'many' || first?.ref.perhapsMany !== undefined;
  const needsItems = handler.collects === true && !isMulti && isList;
  const after = needsItems && first != null ? ifAny(compiler, node, first) : exits;
  const ref = first?.ref ?? null;
  const input = ref?.kind === 'many' ? firstIn(ref) : ref;
  return new Step(compiler, node, {
    scope,
    input: node.kind === 'code' || node.kind === 'function' ? ref : input,
    inputs: settled.map((arrival) => arrival?.ref ?? null),
    arrivals: settled.map((arrival) => arrival?.exits ?? []),
    after,
    extras: extrasOf(node),
  });
}

/** What an expression without an index reads of a list. */
function firstIn(ref: Arrival['ref']): Arrival['ref'] {
  return ref.path.includes('|') ? ref : { ...ref, kind: 'one', path: `${ref.path}[0]` };
}

function settle(compiler: Compiler, node: N8nNode, { ref, exits }: Arrival, scope: Scope): Arrival {
  if (ref.scope === scope) return { ref, exits };
  const [exit = { id: '', handle: 'out' }] = exits;
  const left = compiler.leave(node, { exit, ref }, scope);
  return { ref: left.ref, exits: [left.exit] };
}

function depthOf(scope: Scope): number {
  let depth = 0;
  for (let around = scope.parent; around !== null; around = around.parent) depth += 1;
  return depth;
}

/** Retries and what follows an error, as n8n keeps them. */
function extrasOf({ raw }: N8nNode): NodeExtras {
  const tries = Number(raw.maxTries ?? 3);
  const wait = Number(raw.waitBetweenTries ?? 1000);
  const retry =
    raw.retryOnFail === true
      ? {
          retry: {
            max_attempts: Number.isInteger(tries) ? Math.min(Math.max(tries, 1), 20) : 3,
            backoff_ms: Number.isInteger(wait) ? Math.min(Math.max(wait, 0), 86_400_000) : 1000,
          },
        }
      : {};
  if (raw.onError === 'continueErrorOutput') return { ...retry, on_error: 'branch' };
  if (raw.onError === 'continueRegularOutput' || raw.continueOnFail === true)
    return { ...retry, on_error: 'continue' };
  return retry;
}

/** What is connected to a node that was made is part of it. */
function mapParts(
  workflow: N8nWorkflow,
  partsOf: ReadonlyMap<string, readonly N8nPart[]>,
  report: Report,
  name: string,
  depth = 0,
): void {
  if (!report.has(name) || depth > 10) return;
  for (const { part } of partsOf.get(name) ?? []) {
    const node = workflow.nodes.get(part);
    if (node === undefined || report.has(part)) continue;
    report.mapped(at(node));
    mapParts(workflow, partsOf, report, part, depth + 1);
  }
}

/** Nodes that are looked at between two chances to do something else. */
const REPORTED_AT_ONCE = 100;

/** Reports what is left out of nodes, what no trigger reaches, and notes, which are part of the first workflow. */
function* reportRest(workflow: N8nWorkflow, report: Report): Work<void> {
  const partsOf = Map.groupBy(workflow.parts, ({ of }) => of);
  const nodes = [...workflow.nodes.values()];
  for (const [index, { name }] of nodes.entries()) {
    mapParts(workflow, partsOf, report, name);
    if (index % REPORTED_AT_ONCE === 0) yield 1;
  }
  const inLine = new Set(workflow.links.map(({ to }) => to));
  for (const [index, node] of nodes.entries()) {
    if (index % REPORTED_AT_ONCE === 0) yield 1;
    const isSkipped = node.raw.disabled === true || (isPart(node) && inLine.has(node.name));
    if (report.has(node.name) && !isSkipped) reportLeftOut(report, node);
  }
  for (const [index, node] of nodes.entries()) {
    if (index % REPORTED_AT_ONCE === 0) yield 1;
    if (report.has(node.name)) continue;
    if (node.kind === 'stickyNote') report.mapped(at(node));
    else if (isTrigger(node)) report.approximated(at(node), message('import.spare_trigger'));
    else report.approximated(at(node), message('import.never_runs'));
  }
  for (const name of new Set(workflow.duplicates)) {
    const node = workflow.nodes.get(name);
    if (node !== undefined) report.approximated(at(node), message('import.duplicate_name'));
  }
}
