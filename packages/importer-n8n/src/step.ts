import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  own,
  tryParseJson,
} from '@millrace/engine';
import {
  foreignPartOf,
  mentionedNodes,
  parse,
  type Reading,
  type ReadMode,
  splitSegments,
} from '@millrace/importer-expressions/expressions';
import { readsContent, withFileFacts } from '@millrace/importer-expressions/file-facts';
import { shimFor } from '@millrace/importer-expressions/shim';
import { translate } from '@millrace/importer-expressions/translate';
import type { Exit, NodeExtras } from '@millrace/importer-kit/flow-builder';
import { MAX_CODE_LENGTH } from '@millrace/importer-kit/limits';
import {
  extend,
  isWithin,
  literal,
  MISSING,
  memberPath,
  type Ref,
  type Scope,
  type Shape,
  template,
} from '@millrace/importer-kit/refs';
import { Unmappable } from '@millrace/importer-kit/unmappable';
import { type Message, message } from '@millrace/messages';
import type { Compiler, Out } from './compiler.ts';
import { EarlierNodes } from './earlier.ts';
import { aboutLoop } from './loop-context.ts';
import { asText, type N8nNode, parameterOf } from './read.ts';
import { announcesWait, limitOfNext, RESUME_URL } from './resume.ts';

export { Unmappable } from '@millrace/importer-kit/unmappable';

/** An argument of a tool that the model fills in. */
export interface ToolArgument {
  readonly name: string;
  readonly description: string;
  readonly type: string;
}

/** One original node while its Millrace nodes are made: they follow each other, in the scope in which it runs. */
export class Step {
  readonly compiler: Compiler;
  readonly node: N8nNode;
  readonly scope: Scope;
  /** The current item; null at a trigger. */
  readonly input: Ref | null;
  /** For nodes that take whole lists: those of its inputs. */
  readonly inputs: readonly (Ref | null)[];
  /** By input: where its items come from. */
  readonly arrivals: readonly (readonly Exit[])[];
  /** The node that got the original's own settings. */
  mainId: string | null = null;
  /** The node that waits for a call, if this one announces it. */
  resumedBy: string | null = null;
  /** The settings that the node itself has in n8n: retries and what follows an error. */
  readonly extras: NodeExtras;
  readonly #nodes = new EarlierNodes(this);
  #after: readonly Exit[];
  #pending: { readonly id: string; readonly codes: string[]; files: JsonObject } | null = null;
  /** Set while the settings of a tool are translated. */
  toolArguments: ToolArgument[] | null = null;

  constructor(
    compiler: Compiler,
    node: N8nNode,
    at: {
      readonly scope: Scope;
      readonly input: Ref | null;
      readonly inputs?: readonly (Ref | null)[];
      readonly arrivals?: readonly (readonly Exit[])[];
      readonly after: readonly Exit[];
      readonly extras: NodeExtras;
    },
  ) {
    this.compiler = compiler;
    this.node = node;
    this.scope = at.scope;
    this.input = at.input;
    this.inputs = at.inputs ?? [];
    this.arrivals = at.arrivals ?? [];
    this.#after = at.after;
    this.extras = at.extras;
  }

  get after(): readonly Exit[] {
    return this.#after;
  }

  /** Goes on from elsewhere: from one handle of a branch, for instance. */
  continueFrom(exits: readonly Exit[]): void {
    this.#after = exits;
  }

  approximate(what: Message): void {
    this.compiler.approximate(this.node, what);
  }

  /** The whole current item; an empty one at a trigger. */
  item(): JsonValue {
    return this.input === null ? {} : this.compiler.wholeIn(this.input, this.scope);
  }

  raw(path: string): JsonValue | undefined {
    return parameterOf(this.node, path);
  }

  /** A text parameter as it is written, or the default. */
  text(path: string, otherwise = ''): string {
    const value = this.raw(path);
    return typeof value === 'string' ? value : otherwise;
  }

  /** A parameter with its expressions as templates. */
  param(path: string, otherwise: JsonValue = null): JsonValue {
    const value = this.raw(path);
    return value === undefined ? otherwise : this.value(value);
  }

  /** The id that a chosen resource has: n8n keeps it as a text, or with the way it was chosen. */
  chosen(path: string): JsonValue {
    const given = this.raw(path);
    const value =
      given !== undefined && isJsonObject(given) && 'value' in given
        ? (given.value ?? null)
        : (given ?? null);
    if (typeof value !== 'string') return this.value(value);
    const [, id] = /\/d\/([\w-]{20,})/.exec(value) ?? [];
    return this.value(id ?? value);
  }

  /** Any value, with expressions as templates. */
  value(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.#text(value);
    if (isJsonArray(value)) return value.map((item) => this.value(item));
    if (!isJsonObject(value)) return value;
    if (value.__rl === true) return this.value(value.value ?? null);
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.value(item ?? null)]));
  }

  #text(text: string): JsonValue {
    if (!text.startsWith('=')) return literal(text);
    const segments = splitSegments(text.slice(1));
    if (segments === null) throw new Unmappable(message('import.expression_unreadable'));
    const [only] = segments;
    if (segments.length === 1 && only !== undefined && 'code' in only) return this.expression(only.code);
    return segments
      .map((segment) => ('text' in segment ? literal(segment.text) : asText(this.expression(segment.code))))
      .join('');
  }

  /** The template for an expression, computed by a Code node before this one if templates can't say it. */
  expression(code: string): JsonValue {
    if (code === '') return '';
    if (RESUME_URL.test(code) && announcesWait(this.compiler, this.node))
      return template('args.callback_url');
    const constant = constantIn(code);
    if (constant !== undefined) return typeof constant === 'string' ? literal(constant) : constant;
    const path = translate(code, this.#reading());
    if (path !== null) return template(path);
    if (parse(code) === null) {
      this.approximate(message('import.expression_invalid'));
      return literal(`{{ ${code.slice(0, MAX_SHOWN)} }}`);
    }
    return this.computed(code);
  }

  /** A value that JavaScript computes before this node. */
  computed(given: string): string {
    const { code, files } = this.#withFacts(given);
    const foreign = foreignPartOf(code);
    if (foreign !== null) throw new Unmappable(message('import.only_in_original', { part: foreign }));
    if (this.toolArguments !== null && /\$fromAI/.test(code))
      throw new Unmappable(message('import.argument_in_code'));
    this.#pending ??= {
      id: this.compiler.builder.reserve(`${this.node.name} values`),
      codes: [],
      files: {},
    };
    this.#pending.files = { ...this.#pending.files, ...files };
    const known = this.#pending.codes.indexOf(code);
    const at = known >= 0 ? known : this.#pending.codes.push(code) - 1;
    return template(`nodes.${this.#pending.id}.output.result.value_${at + 1}`);
  }

  /** Code that reads what is known of files: their names, types and sizes become its input. */
  #withFacts(code: string): { readonly code: string; readonly files: JsonObject } {
    if (!code.includes('binary') || readsContent(code)) return { code, files: {} };
    const files: { [name: string]: JsonObject } = {};
    const made = withFileFacts(code, (node) => {
      const known = (node === null ? this.input : this.#nodes.find(node)?.ref)?.files ?? {};
      const named = Object.keys(known).filter((name) => code.includes(name));
      const names = named.length === 0 ? Object.keys(known).slice(0, 1) : named;
      if (names.length === 0) this.approximate(message('import.reads_no_file'));
      files[node ?? ''] = Object.fromEntries(names.map((name) => [name, this.#factsOf(known[name] ?? '')]));
    });
    return { code: made, files };
  }

  #factsOf(path: string): JsonObject {
    const read = this.readFile(path);
    return Object.fromEntries(
      [...FILE_MEMBERS].map(([name, place]) => [name, template(extend(read, [place]))]),
    );
  }

  /** JavaScript that computes a parameter, to be used inside {@link computed}. */
  source(value: JsonValue | undefined): string {
    if (typeof value !== 'string' || !value.startsWith('=')) return JSON.stringify(value ?? null);
    const segments = splitSegments(value.slice(1)) ?? [];
    const parts = segments.map((segment) =>
      'code' in segment ? `(${segment.code})` : JSON.stringify(segment.text),
    );
    return parts.length === 1 ? (parts[0] ?? '""') : `[${parts.join(', ')}].join("")`;
  }

  /** Adds a node after the previous one; the node's own settings go to the main one. */
  add(
    type: string,
    config: { [name: string]: JsonValue },
    { suffix = '', isMain = suffix === '' }: { readonly suffix?: string; readonly isMain?: boolean } = {},
  ): string {
    this.computePending();
    const waits = isMain && type === 'http.request' && announcesWait(this.compiler, this.node);
    const id = this.compiler.add(this.node, {
      type: waits ? 'wait.callback' : type,
      config: waits ? { request: config, timeout_s: limitOfNext(this.compiler, this.node) } : config,
      scope: this.scope,
      after: this.#after,
      label: suffix === '' ? this.node.name : `${this.node.name}: ${suffix}`,
      extras: isMain ? this.extras : {},
    });
    if (isMain) this.mainId = id;
    if (waits) this.resumedBy = id;
    this.#after = [{ id, handle: 'out' }];
    return id;
  }

  /** Adds a Code node that has the items and earlier nodes under their names in n8n. */
  addCode(code: string, options: { readonly suffix?: string; readonly input?: JsonObject } = {}): string {
    if (code.length > MAX_CODE_LENGTH) throw new Unmappable(message('import.code_too_long'));
    return this.add(
      'core.code',
      {
        code: literal(`${shimFor(code)}\n\n${code}`),
        input: this.codeInput([code], options.input ?? {}),
        timeout_ms: 30_000,
      },
      options.suffix === undefined ? {} : { suffix: options.suffix },
    );
  }

  /** Adds what has to be computed before the next node. */
  computePending(): void {
    if (this.#pending === null) return;
    const { id, codes, files } = this.#pending;
    this.#pending = null;
    const lines = codes.map((code, index) => `  value_${index + 1}: ${code.replace(/;\s*$/, '')},`);
    const code = `return {\n${lines.join('\n')}\n};`;
    this.compiler.add(this.node, {
      type: 'core.code',
      id,
      config: {
        code: literal(`${shimFor(code)}\n\n${code}`),
        input: this.codeInput(codes, Object.keys(files).length === 0 ? {} : { files }),
      },
      scope: this.scope,
      after: this.#after,
      label: `${this.node.name}: values`,
    });
    this.#after = [{ id, handle: 'out' }];
  }

  /** What code of n8n reads, as the input of a Code node. */
  codeInput(codes: readonly string[], more: JsonObject): JsonObject {
    const text = codes.join('\n');
    const names = [...new Set(codes.flatMap(mentionedNodes))];
    const nodes = names.map((name): [string, JsonValue] => [name, this.#nodes.entry(name)]);
    const isInLoop = this.scope.kind === 'items';
    return {
      ...(this.input === null || this.input.kind === 'many'
        ? {}
        : { json: this.compiler.firstIn(this.input, this.scope) }),
      ...(/\bitems\b|\$input|\$items/.test(text) && this.input !== null
        ? { items: this.compiler.listIn(this.input, this.scope) }
        : {}),
      ...(isInLoop && text.includes('$itemIndex') ? { index: '{{index}}' } : {}),
      ...(this.scope.kind === 'repeat' && text.includes('$runIndex') ? { run: '{{index}}' } : {}),
      ...(nodes.length === 0 ? {} : { nodes: Object.fromEntries(nodes) }),
      ...(text.includes('$execution') ? { execution: '{{execution.id}}' } : {}),
      ...this.#variables(text),
      ...(text.includes('$workflow')
        ? { workflow: { name: literal(this.compiler.workflow.name), id: '' } }
        : {}),
      ...more,
    };
  }

  /** The constants that code reads as `$vars.name` or `$env.name`. */
  #variables(text: string): JsonObject {
    const names = [...text.matchAll(/\$(?:vars|env)\??(?:\.|\[\s*['"])([A-Za-z_]\w*)/g)].map(
      ([, name = '']) => name,
    );
    for (const name of names) this.compiler.variables.add(name);
    return names.length === 0
      ? {}
      : { vars: Object.fromEntries(names.map((name) => [name, template(extend('vars', [name]))])) };
  }

  #reading(): Reading {
    return {
      current: (names) => {
        if (this.input === null || this.input.kind === 'many') return null;
        if (names.length === 0 && this.input.shape !== undefined) return null;
        const path = memberPath(this.compiler.refIn(this.input, this.scope), names);
        if (path === null) this.approximate(message('import.member_missing', { member: names.join('.') }));
        return path ?? MISSING;
      },
      earlier: (name, mode, names) => this.#earlier(name, mode, names),
      argument: (name, description, type) => {
        if (this.toolArguments === null) return null;
        const safe = name.replace(/[^A-Za-z0-9_]/g, '_');
        if (!this.toolArguments.some((each) => each.name === safe))
          this.toolArguments.push({ name: safe, description, type });
        return extend('args', [safe]);
      },
      file: (node, names) => this.#aboutFile(node, names),
      loop: (node, name) => aboutLoop(this, node, name),
      variable: (name) => {
        this.compiler.variables.add(name);
        return extend('vars', [name]);
      },
    };
  }

  #earlier(name: string, mode: ReadMode, names: readonly string[]): string | null {
    const found = this.#nodes.find(name);
    if (found === null) return MISSING;
    const ref = this.compiler.refIn(found.ref, this.scope);
    if (ref.kind === 'one') {
      this.compiler.noteReadAsOne(ref);
      if (names.length === 0 && ref.shape !== undefined) return null;
      const path = memberPath(ref, names);
      if (path === null) this.approximate(message('import.member_missing', { member: names.join('.') }));
      return path ?? MISSING;
    }
    if (mode === 'item') {
      const item = this.#nodes.itemOf(found.ref);
      return item === null ? null : extend(item, names);
    }
    return mode === 'first' && !ref.path.includes('|') ? extend(ref.path, ['0', ...names]) : null;
  }

  /**
   * The inside of a template for a file that belongs to the item, or to that of the node that an expression names.
   * @throws Unmappable if there is none
   */
  file(given: string): string {
    const named = EARLIER_FILE.exec(given);
    const [, quoted, plain, member] = named ?? [];
    const name = member ?? given.replace(/^=(?!.*\{\{)/s, '');
    const of = quoted ?? plain;
    const files = (of === undefined ? this.input : this.#nodes.find(of)?.ref)?.files ?? {};
    const path = own(files, name);
    if (path === undefined) throw new Unmappable(message('import.no_file_before', { name }));
    return this.readFile(path);
  }

  /** The path of a file. One that is read only where it is needed is read before this node. */
  readFile(path: string): string {
    const read = this.compiler.readerOf(path);
    if (read === undefined) return path;
    const known = this.compiler.readFiles.get(path);
    if (known !== undefined && isWithin(this.scope, known.scope) && this.#nodes.before().has(known.id))
      return known.path;
    const made = read(this);
    const id = /^nodes\.([a-z0-9_]+)/.exec(made)?.[1] ?? '';
    this.compiler.readFiles.set(path, { path: made, id, scope: this.scope });
    return made;
  }

  /** A file, or its name or type; null if that is something else, or isn't known. */
  #aboutFile(node: string | null, [name = '', member, ...rest]: readonly string[]): string | null {
    const files = (node === null ? this.input : this.#nodes.find(node)?.ref)?.files ?? {};
    const path = own(files, name);
    const place = member === undefined ? null : FILE_MEMBERS.get(member);
    if (path === undefined || place === undefined || rest.length > 0) return null;
    const read = this.readFile(path);
    return place === null ? read : extend(read, [place]);
  }

  /** One output with one item that has a file. */
  withFile(out: Out, name: string, path: string): Out {
    return { ...out, ref: { ...out.ref, files: { ...out.ref.files, [name]: path } } };
  }

  /** One output with one item. */
  one(path: string, shape?: Shape): Out {
    const [exit = { id: '', handle: 'out' }] = this.#after;
    const owner = /^nodes\.([a-z0-9_]+)/.exec(path)?.[1] ?? null;
    return {
      exit,
      ref: { kind: 'one', path, scope: this.scope, owner, ...(shape === undefined ? {} : { shape }) },
    };
  }

  /** One output with a list of items. */
  many(path: string): Out {
    const { exit, ref } = this.one(path);
    return { exit, ref: { ...ref, kind: 'many' } };
  }

  /** The item that arrived, passed on from where this node left off. */
  pass(handle = 'out', id = this.#after[0]?.id ?? ''): Out {
    const ref = this.input ?? { kind: 'one' as const, path: 'trigger.data', scope: this.scope, owner: null };
    return { exit: { id, handle }, ref };
  }
}

/** What n8n calls the members of a file. */
const FILE_MEMBERS = new Map([
  ['fileName', 'name'],
  ['mimeType', 'type'],
  ['fileSize', 'size'],
]);

/** An expression that is a file of this item, or of an earlier node's. */
const EARLIER_FILE =
  /^=\s*\{\{\s*(?:\$binary|\$input\.(?:item|first\(\))\.binary|(?:\$\(\s*(?:'([^'\\]+)'|"([^"\\]+)")\s*\))\.(?:item|first\(\))\.binary)\.(\w+)\s*\}\}\s*$/;

/** As much of an invalid expression stays as text. */
const MAX_SHOWN = 1000;

/** A constant: a number, a text, true, false, null, or JSON. */
function constantIn(code: string): JsonValue | undefined {
  const quoted = /^'([^'\\\n]*)'$|^`([^`\\$]*)`$/.exec(code);
  if (quoted !== null) return quoted[1] ?? quoted[2] ?? '';
  if (!/^["\d[{tfn-]/.test(code)) return undefined;
  return tryParseJson(code);
}
