import { type Message, message } from '@millrace/messages';
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  joinPointer,
  own,
  pointerToField,
} from '@millrace/values/json';
import { isNamedZone } from '@millrace/values/zoned-time';
import { PRIORITIES } from './claim-order.ts';
import { ON_LIMIT } from './concurrency.ts';
import {
  FLOW_POINTER,
  type FlowEdge,
  type FlowNode,
  LOOP_TYPES,
  ON_ERROR,
  type StructureError,
} from './flow.ts';
import { buildGraph, findCycle } from './graph.ts';
import { MAX_SEARCH_KEY_NAME_LENGTH, MAX_SEARCH_KEYS } from './search-keys.ts';

export interface StructureLimits {
  readonly maxNodes: number;
  /** Default 100,000. */
  readonly maxEdges?: number;
  /** Pointer of the flow in the body; default `/flow_data`. */
  readonly at?: string;
}

/** More wouldn't help and would make the response as large as the request. */
const MAX_ERRORS = 100;
const MAX_NAMES_OF_CYCLE = 20;
const MAX_LOOPS_AROUND = 50;
const DAY_MS = 86_400_000;
const DAY_S = 86_400;
const YEAR_S = 31_536_000;

/**
 * Checks the requirements on every saved `flow_data` (SPEC.md, F rules); empty when it can be saved. The value must have passed the depth
 * limit for requests. At most 100 errors are reported; a flow that is too large isn't checked further.
 */
export function validateStructure(value: JsonValue, limits: StructureLimits): StructureError[] {
  const check = new Check(limits.at ?? FLOW_POINTER);
  if (!isJsonObject(value)) {
    check.add('', 'invalid_type', message('flow.not_a_flow'));
    return check.errors;
  }
  const nodes = check.list(value, 'nodes');
  const edges = check.list(value, 'edges');
  if (nodes !== null && nodes.length > limits.maxNodes) {
    const max = limits.maxNodes;
    check.add('/nodes', 'too_many_nodes', message('flow.too_many_nodes', { nodes: nodes.length, max }));
    return check.errors;
  }
  const maxEdges = limits.maxEdges ?? 100_000;
  if (edges !== null && edges.length > maxEdges) {
    const fault = message('flow.too_many_edges', { edges: edges.length, max: maxEdges });
    check.add('/edges', 'too_many_edges', fault);
    return check.errors;
  }
  if (nodes !== null) checkNodes(check, nodes);
  if (nodes !== null && edges !== null) checkEdges(check, nodes, edges);
  checkSettings(check, value);
  check.optionalObject(value, 'viewport', '');
  // The graph is only worth walking when all nodes and edges are sound.
  if (check.errors.length === 0 && nodes !== null && edges !== null) {
    checkCycle(check, nodes as readonly FlowNode[], edges as readonly FlowEdge[]);
  }
  return check.errors;
}

function checkNodes(check: Check, nodes: readonly JsonValue[]): void {
  const byId = new Map<string, JsonObject>();
  nodes.forEach((node, index) => {
    const at = `/nodes/${index}`;
    if (!check.isObject(node, at)) return;
    const id = check.id(node, 'id', at);
    if (id !== null && byId.has(id)) {
      check.add(`${at}/id`, 'duplicate_id', message('flow.duplicate_node_id', { id: cut(id) }));
    } else if (id !== null) {
      byId.set(id, node);
    }
    check.text(node, 'type', at, { required: true, maxLength: 100 });
    checkPosition(check, node, at);
    checkNodeData(check, node, at);
  });
  nodes.forEach((node, index) => {
    if (isJsonObject(node)) checkParent(check, node, `/nodes/${index}`, byId);
  });
}

function checkPosition(check: Check, node: JsonObject, at: string): void {
  const position = check.optionalObject(node, 'position', at);
  if (position === null) return;
  for (const axis of ['x', 'y']) {
    if (typeof position[axis] !== 'number') {
      check.add(`${at}/position/${axis}`, 'invalid_type', message('flow.not_a_coordinate'));
    }
  }
}

function checkNodeData(check: Check, node: JsonObject, at: string): void {
  const data = check.optionalObject(node, 'data', at);
  if (data === null) return;
  const here = `${at}/data`;
  check.text(data, 'label', here, { required: false, maxLength: 255, mayBeEmpty: true });
  check.optionalObject(data, 'config', here);
  check.integer(data, 'timeout_ms', here, 1, DAY_MS);
  check.choice(data, 'on_error', here, ON_ERROR);
  const retry = check.optionalObject(data, 'retry', here);
  if (retry === null) return;
  check.integer(retry, 'max_attempts', `${here}/retry`, 1, 20);
  check.integer(retry, 'backoff_ms', `${here}/retry`, 0, DAY_MS);
  check.integer(retry, 'max_backoff_ms', `${here}/retry`, 0, DAY_MS);
  check.knownMembers(retry, ['max_attempts', 'backoff_ms', 'max_backoff_ms'], `${here}/retry`);
}

function checkParent(
  check: Check,
  node: JsonObject,
  at: string,
  byId: ReadonlyMap<string, JsonObject>,
): void {
  const parentId = node.parentId;
  if (parentId === undefined || parentId === null) return;
  if (typeof parentId !== 'string') {
    check.add(`${at}/parentId`, 'invalid_type', message('flow.parent_not_an_id'));
    return;
  }
  const parent = byId.get(parentId);
  if (parent === undefined) {
    check.add(`${at}/parentId`, 'unknown_node', message('flow.unknown_node', { id: cut(parentId) }));
  } else if (typeof parent.type !== 'string' || !LOOP_TYPES.has(parent.type)) {
    const types = [...LOOP_TYPES].join(' or ');
    check.add(`${at}/parentId`, 'not_a_loop', message('flow.not_a_loop', { id: cut(parentId), types }));
  } else {
    checkNesting(check, node, at, byId);
  }
}

/** Walks outwards, no further than the nesting limit of loops, so that the total cost is linear. */
function checkNesting(
  check: Check,
  node: JsonObject,
  at: string,
  byId: ReadonlyMap<string, JsonObject>,
): void {
  const around = new Set<JsonObject>();
  let outer = outerOf(node, byId);
  while (outer !== undefined) {
    if (outer === node) {
      check.add(`${at}/parentId`, 'cycle', message('flow.loop_in_itself'));
      return;
    }
    // Report the loops that contain each other, not the other nodes in them.
    if (around.has(outer)) return;
    around.add(outer);
    if (around.size > MAX_LOOPS_AROUND) {
      const fault = message('flow.too_many_loops_around', { max: MAX_LOOPS_AROUND });
      check.add(`${at}/parentId`, 'too_deep', fault);
      return;
    }
    outer = outerOf(outer, byId);
  }
}

function outerOf(node: JsonObject, byId: ReadonlyMap<string, JsonObject>): JsonObject | undefined {
  return typeof node.parentId === 'string' ? byId.get(node.parentId) : undefined;
}

function checkEdges(check: Check, nodes: readonly JsonValue[], edges: readonly JsonValue[]): void {
  const nodeIds = new Set(nodes.map((node) => (isJsonObject(node) ? node.id : undefined)));
  const edgeIds = new Set<string>();
  edges.forEach((edge, index) => {
    const at = `/edges/${index}`;
    if (!check.isObject(edge, at)) return;
    const id = edge.id === undefined ? null : check.id(edge, 'id', at);
    if (id !== null && edgeIds.has(id)) {
      check.add(`${at}/id`, 'duplicate_id', message('flow.duplicate_edge_id', { id: cut(id) }));
    } else if (id !== null) {
      edgeIds.add(id);
    }
    for (const end of ['source', 'target']) {
      const nodeId = check.id(edge, end, at);
      if (nodeId !== null && !nodeIds.has(nodeId)) {
        check.add(`${at}/${end}`, 'unknown_node', message('flow.unknown_end', { id: cut(nodeId) }));
      }
    }
    for (const handle of ['sourceHandle', 'targetHandle']) {
      if (edge[handle] !== null) check.text(edge, handle, at, { required: false, maxLength: 255 });
    }
  });
}

function checkSettings(check: Check, flow: JsonObject): void {
  const settings = check.optionalObject(flow, 'settings', '');
  if (settings === null) return;
  check.text(settings, 'display_name', '/settings', { required: false, maxLength: 1_000 });
  check.integer(settings, 'timeout_s', '/settings', 1, YEAR_S);
  check.integer(settings, 'max_concurrency', '/settings', 1, 10_000);
  checkConcurrency(check, settings);
  check.choice(settings, 'priority', '/settings', PRIORITIES);
  checkHolds(check, settings);
  check.integer(settings, 'error_workflow_id', '/settings', 1, Number.MAX_SAFE_INTEGER);
  check.integer(settings, 'token_budget', '/settings', 1, Number.MAX_SAFE_INTEGER);
  const timezone = check.text(settings, 'timezone', '/settings', { required: false, maxLength: 100 });
  if (timezone !== null && !isNamedZone(timezone)) {
    check.add('/settings/timezone', 'unknown_timezone', message('flow.unknown_timezone'));
  }
  checkSearchKeys(check, settings);
  check.optionalObject(settings, 'vars', '/settings');
  check.optionalObject(settings, 'input_schema', '/settings');
}

function checkHolds(check: Check, settings: JsonObject): void {
  const rate = check.optionalObject(settings, 'rate', '/settings');
  if (rate !== null) {
    const at = '/settings/rate';
    check.requiredCount(rate, 'limit', at, 100_000);
    check.requiredCount(rate, 'per_seconds', at, DAY_S);
    check.text(rate, 'key', at, { required: false, maxLength: 1_000 });
    check.knownMembers(rate, ['limit', 'per_seconds', 'key'], at);
  }
  const debounce = check.optionalObject(settings, 'debounce', '/settings');
  if (debounce !== null) {
    const at = '/settings/debounce';
    check.requiredCount(debounce, 'seconds', at, DAY_S);
    // Shorter than the wait itself, it would make the wait meaningless.
    const { seconds } = debounce;
    const min = typeof seconds === 'number' ? Math.max(seconds, 1) : 1;
    check.integer(debounce, 'max_seconds', at, min, 7 * DAY_S);
    check.text(debounce, 'key', at, { required: false, maxLength: 1_000 });
    check.knownMembers(debounce, ['seconds', 'max_seconds', 'key'], at);
  }
}

function checkSearchKeys(check: Check, settings: JsonObject): void {
  const keys = check.optionalObject(settings, 'search_keys', '/settings');
  if (keys === null) return;
  const at = '/settings/search_keys';
  const names = Object.keys(keys);
  if (names.length > MAX_SEARCH_KEYS) {
    check.add(at, 'too_many', message('flow.too_many_search_keys', { max: MAX_SEARCH_KEYS }));
    return;
  }
  for (const name of names) {
    if (name === '' || name.length > MAX_SEARCH_KEY_NAME_LENGTH) {
      const fault = message('flow.search_key_name', { max: MAX_SEARCH_KEY_NAME_LENGTH });
      check.add(joinPointer(at, name), 'invalid_value', fault);
    } else {
      check.text(keys, name, at, { required: true, maxLength: 1_000 });
    }
  }
}

function checkConcurrency(check: Check, settings: JsonObject): void {
  const concurrency = check.optionalObject(settings, 'concurrency', '/settings');
  if (concurrency === null) return;
  const at = '/settings/concurrency';
  check.requiredCount(concurrency, 'limit', at, 10_000);
  check.text(concurrency, 'key', at, { required: false, maxLength: 1_000 });
  check.choice(concurrency, 'on_limit', at, ON_LIMIT);
  check.knownMembers(concurrency, ['key', 'limit', 'on_limit'], at);
}

function checkCycle(check: Check, nodes: readonly FlowNode[], edges: readonly FlowEdge[]): void {
  const ids = nodes.map((node) => node.id);
  const graph = buildGraph(ids, edges);
  const cycle = findCycle(graph);
  if (cycle === null) return;
  const names = cycle.map((edge) => ids[graph.edges[edge]?.source ?? 0] ?? '');
  const shown = names.slice(0, MAX_NAMES_OF_CYCLE);
  if (names.length > shown.length) shown.push('...');
  shown.push(names[0] ?? '');
  check.add(`/edges/${cycle.at(-1) ?? 0}`, 'cycle', message('flow.cycle', { nodes: shown.join(' -> ') }));
}

function cut(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}

/** Collects errors; every method returns null (or false) when the value is unusable. */
class Check {
  readonly errors: StructureError[] = [];
  readonly #at: string;

  constructor(at: string) {
    this.#at = at;
  }

  add(pointer: string, code: string, fault: Message): void {
    if (this.errors.length >= MAX_ERRORS) return;
    const whole = `${this.#at}${pointer}`;
    this.errors.push({ pointer: whole, field: pointerToField(whole), code, message: fault });
  }

  isObject(value: JsonValue, at: string): value is JsonObject {
    if (isJsonObject(value)) return true;
    this.add(at, 'invalid_type', message('flow.not_an_object'));
    return false;
  }

  list(flow: JsonObject, name: string): readonly JsonValue[] | null {
    const value = own(flow, name);
    if (value === undefined) this.add(`/${name}`, 'required', message('flow.required_array'));
    else if (isJsonArray(value)) return value;
    else this.add(`/${name}`, 'invalid_type', message('flow.not_an_array'));
    return null;
  }

  optionalObject(owner: JsonObject, name: string, at: string): JsonObject | null {
    const value = own(owner, name);
    if (value === undefined) return null;
    if (isJsonObject(value)) return value;
    this.add(`${at}/${name}`, 'invalid_type', message('flow.not_an_object'));
    return null;
  }

  id(owner: JsonObject, name: string, at: string): string | null {
    return this.text(owner, name, at, { required: true, maxLength: 255 });
  }

  text(
    owner: JsonObject,
    name: string,
    at: string,
    rule: { required: boolean; maxLength: number; mayBeEmpty?: boolean },
  ): string | null {
    const value = own(owner, name);
    const pointer = `${at}/${name}`;
    if (value === undefined) {
      if (rule.required) this.add(pointer, 'required', message('flow.required'));
    } else if (typeof value !== 'string') {
      this.add(pointer, 'invalid_type', message('flow.not_a_string'));
    } else if (value === '' && rule.mayBeEmpty !== true) {
      this.add(pointer, 'empty', message('flow.empty'));
    } else if (value.length > rule.maxLength) {
      this.add(pointer, 'too_long', message('flow.too_long', { count: rule.maxLength }));
    } else {
      return value;
    }
    return null;
  }

  integer(owner: JsonObject, name: string, at: string, min: number, max: number): void {
    const value = own(owner, name);
    if (value === undefined) return;
    if (!Number.isInteger(value) || Number(value) < min || Number(value) > max) {
      this.add(`${at}/${name}`, 'invalid_value', message('flow.not_in_range', { min, max }));
    }
  }

  choice(owner: JsonObject, name: string, at: string, values: readonly string[]): void {
    const value = own(owner, name);
    if (value === undefined || values.some((known) => known === value)) return;
    const fault = message('flow.not_one_of', { values: values.join(', ') });
    this.add(`${at}/${name}`, 'invalid_value', fault);
  }

  requiredCount(owner: JsonObject, name: string, at: string, max: number): void {
    if (own(owner, name) === undefined) this.add(`${at}/${name}`, 'required', message('flow.required'));
    else this.integer(owner, name, at, 1, max);
  }

  knownMembers(owner: JsonObject, known: readonly string[], at: string): void {
    for (const name of Object.keys(owner)) {
      if (known.includes(name)) continue;
      const fault = message('flow.unknown_setting', { known: known.join(', ') });
      this.add(joinPointer(at, name), 'unknown_field', fault);
    }
  }
}
