import { type Message, message } from '@millrace/messages';
import {
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  joinPointer,
  own,
  pointerTokens,
} from '@millrace/values/json';
import { findPatternFault } from '@millrace/values/pattern';
import { isInPlace, type PartKind, partsOf, RULES } from './schema-keywords.ts';

/** A fault in a user's JSON Schema; `pointer` starts at the schema. */
export interface SchemaFault {
  readonly pointer: string;
  /** Follows the name of the location: lower case, no full stop. */
  readonly message: Message;
  /**
   * Whether the schema must not be used: it can't be evaluated, or not within bounds. With any other fault the keyword has no effect, which
   * is harmless but worth reporting to its author.
   */
  readonly isUnusable: boolean;
}

const MAX_SCHEMA_DEPTH = 100;
/** More faults than this have a single cause. */
const MAX_FAULTS = 20;

/**
 * What JSON Schema 2020-12 doesn't allow in a schema, dangling or circular references, and what is refused to keep checks bounded: other
 * documents, patterns with runaway cost, endless nesting. Keywords unknown to JSON Schema are comments, and ignored here too. The cost is
 * linear in the schema.
 */
export function findSchemaFaults(schema: JsonValue): readonly SchemaFault[] {
  if (depthOf(schema, 0) > MAX_SCHEMA_DEPTH) {
    const fault = message('flow.schema_too_deep', { max: MAX_SCHEMA_DEPTH });
    return [{ pointer: '', message: fault, isUnusable: true }];
  }
  return new SchemaCheck(schema).faults.slice(0, MAX_FAULTS);
}

/** The first fault that makes a schema unusable, with its location; null when there is none. */
export function describeUnusableSchema(schema: JsonValue): Message | null {
  const fault = findSchemaFaults(schema).find(({ isUnusable }) => isUnusable);
  if (fault === undefined) return null;
  const { pointer, message: text } = fault;
  return pointer === '' ? text : message('flow.at_pointer', { pointer, fault: text });
}

function depthOf(value: JsonValue, depth: number): number {
  if (depth > MAX_SCHEMA_DEPTH || value === null || typeof value !== 'object' || isRawNumber(value))
    return depth;
  const parts = isJsonArray(value) ? value : Object.values(value as JsonObject);
  return parts.reduce<number>((deepest, part) => Math.max(deepest, depthOf(part, depth + 1)), depth);
}

/** A schema with its own `$id`, or the root: the base of references within it. */
interface Resource {
  readonly schema: JsonValue;
  readonly pointer: string;
  readonly anchors: Map<string, Place>;
}

interface Place {
  readonly schema: JsonValue;
  readonly pointer: string;
}

interface Reference {
  readonly from: JsonObject;
  readonly text: string;
  readonly pointer: string;
  readonly resource: Resource;
}

/** A schema that applies together with another one, to the same value. */
interface Step {
  readonly to: JsonValue;
  /** Pointer of the reference that leads there; null when it is written in place. */
  readonly reference: string | null;
}

class SchemaCheck {
  readonly faults: SchemaFault[] = [];
  readonly #seen = new Set<JsonValue>();
  readonly #references: Reference[] = [];
  readonly #steps = new Map<JsonValue, Step[]>();

  constructor(schema: JsonValue) {
    const whole: Resource = { schema, pointer: '', anchors: new Map() };
    this.#visit({ schema, pointer: '' }, whole);
    // The target of a reference is also a schema, wherever it is, and may contain further references.
    for (let next = 0; next < this.#references.length; next += 1) {
      const reference = this.#references[next];
      if (reference !== undefined) this.#follow(reference);
    }
    this.#findCycles();
  }

  #add(pointer: string, fault: Message, isUnusable = false): void {
    this.faults.push({ pointer, message: fault, isUnusable });
  }

  #visit({ schema, pointer }: Place, outer: Resource): void {
    if (typeof schema === 'boolean') return;
    if (!isJsonObject(schema)) {
      this.#add(pointer, message('flow.not_a_schema'));
      return;
    }
    if (this.#seen.has(schema)) return;
    this.#seen.add(schema);
    const hasId = typeof own(schema, '$id') === 'string' && schema !== outer.schema;
    const resource = hasId ? { schema, pointer, anchors: new Map() } : outer;
    for (const keyword of Object.keys(schema)) {
      const rule = own(RULES, keyword);
      if (rule === undefined) continue;
      const value = schema[keyword] ?? null;
      const at = joinPointer(pointer, keyword);
      if (!rule.fits(value)) this.#add(at, rule.message);
      else if (rule.parts !== undefined)
        this.#visitParts(schema, { keyword, value, at }, rule.parts, resource);
      else this.#readKeyword(schema, { keyword, value, at }, resource);
    }
  }

  #visitParts(
    schema: JsonObject,
    { keyword, value, at }: { readonly keyword: string; readonly value: JsonValue; readonly at: string },
    kind: PartKind,
    resource: Resource,
  ): void {
    for (const [name, part] of partsOf(value, kind)) {
      const place = { schema: part, pointer: name === null ? at : joinPointer(at, name) };
      if (keyword === 'patternProperties') this.#pattern(String(name), place.pointer);
      this.#visit(place, resource);
      if (isInPlace(keyword)) this.#step(schema, { to: part, reference: null });
    }
  }

  #readKeyword(
    schema: JsonObject,
    { keyword, value, at }: { readonly keyword: string; readonly value: JsonValue; readonly at: string },
    resource: Resource,
  ): void {
    if (typeof value !== 'string') return;
    if (keyword === 'pattern') this.#pattern(value, at);
    if (keyword === '$anchor' || keyword === '$dynamicAnchor')
      resource.anchors.set(value, { schema, pointer: at.slice(0, at.lastIndexOf('/')) });
    if (keyword !== '$ref' && keyword !== '$dynamicRef') return;
    if (value.startsWith('#')) this.#references.push({ from: schema, text: value, pointer: at, resource });
    else this.#add(at, message('flow.other_document'), true);
  }

  #pattern(pattern: string, at: string): void {
    const fault = findPatternFault(pattern);
    if (fault !== null) this.#add(at, fault, true);
  }

  #follow({ from, text, pointer, resource }: Reference): void {
    const place = resolve(text, resource);
    if (place === null) {
      this.#add(pointer, message('flow.reference_to_nowhere', { reference: text }));
    } else if (typeof place.schema !== 'boolean' && !isJsonObject(place.schema)) {
      this.#add(pointer, message('flow.reference_to_data', { reference: text }));
    } else {
      this.#step(from, { to: place.schema, reference: pointer });
      this.#visit(place, resource);
    }
  }

  #step(from: JsonValue, step: Step): void {
    const steps = this.#steps.get(from);
    if (steps === undefined) this.#steps.set(from, [step]);
    else steps.push(step);
  }

  /** A cycle that doesn't descend into the value would be followed forever. */
  #findCycles(): void {
    const finished = new Set<JsonValue>();
    for (const start of this.#steps.keys()) {
      if (finished.has(start)) continue;
      const open = new Set<JsonValue>([start]);
      const path = [{ schema: start, next: 0 }];
      for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
        const step = this.#steps.get(top.schema)?.[top.next];
        top.next += 1;
        if (step === undefined) {
          path.pop();
          open.delete(top.schema);
          finished.add(top.schema);
        } else if (open.has(step.to)) {
          if (step.reference !== null) this.#add(step.reference, message('flow.reference_circle'), true);
        } else if (!finished.has(step.to)) {
          open.add(step.to);
          path.push({ schema: step.to, next: 0 });
        }
      }
    }
  }
}

/** The target of a reference that starts with #; null when there is none. */
function resolve(text: string, resource: Resource): Place | null {
  let fragment: string;
  try {
    fragment = decodeURIComponent(text.slice(1));
  } catch {
    return null;
  }
  if (fragment !== '' && !fragment.startsWith('/')) return resource.anchors.get(fragment) ?? null;
  let { schema, pointer }: Place = resource;
  for (const name of pointerTokens(fragment)) {
    const part = memberOf(schema, name);
    if (part === undefined) return null;
    schema = part;
    pointer = joinPointer(pointer, name);
  }
  return { schema, pointer };
}

function memberOf(value: JsonValue, name: string): JsonValue | undefined {
  if (isJsonArray(value)) return /^(?:0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined;
  return isJsonObject(value) ? own(value, name) : undefined;
}
