import {
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  listPaths,
  parseTemplate,
  RenderLimitError,
  remember,
  render,
  setOwn,
  stringifyJson,
  type Template,
  type TemplateScope,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { scalarText, typeName } from '@millrace/node-kit/values';

/** No text that is filled in may be larger than this, nor all that its operators and filters make on the way. */
const MAX_FILLED_BYTES = 16 * 1024 * 1024;
/** Where files are in texts, which have a limit of their own: a mail passes through some ten operators and filters. */
export const MAX_FILLED_WITH_FILES_BYTES = 64 * 1024 * 1024;

/** By their text, the ones used last. Connectors that organisations upload add to them. */
const parsed = new Map<string, Template>();
const MAX_PARSED = 20_000;

function templateOf(text: string): Template {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const result = parseTemplate(text);
  if (!result.ok) throw new Error(`a connector has a template that can't be parsed: ${text}`);
  remember(parsed, text, result.template, MAX_PARSED);
  return result.template;
}

/** Thrown when the templates of one run take more than {@link MAX_STEPS}. */
class TooManyTemplateStepsError extends RenderLimitError {
  override readonly code = 'template_too_expensive';
  constructor() {
    super(message('run.template_too_expensive', { max: MAX_STEPS }));
  }
}

class TemplatesTooLargeError extends RenderLimitError {
  override readonly code = 'template_too_large';
  constructor() {
    super(message('run.template_too_large', { max: MAX_TEXT_BYTES }));
  }
}

/** Of one run. A single template has the limits of the engine besides. */
const MAX_STEPS = 3_000_000;
/** Of the texts that one run makes. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** What the templates of one run of an operation, or of one poll, may take together: a file has many, and a list many items. */
export class TemplateBudget {
  #stepsLeft = MAX_STEPS;
  #charactersLeft = MAX_TEXT_BYTES;
  readonly #maxFilledBytes: number;

  /** @param maxFilledBytes of one template */
  constructor(maxFilledBytes: number = MAX_FILLED_BYTES) {
    this.#maxFilledBytes = maxFilledBytes;
  }

  /** @throws RenderLimitError */
  render(template: Template, args: JsonObject): JsonValue {
    const rendered = render(template, scopeOf(args), this.#maxFilledBytes, (steps) => {
      this.#stepsLeft -= steps;
    });
    if (this.#stepsLeft < 0) throw new TooManyTemplateStepsError();
    if (template.kind === 'text' && typeof rendered === 'string') this.#charactersLeft -= rendered.length;
    if (this.#charactersLeft < 0) throw new TemplatesTooLargeError();
    return rendered;
  }
}

function scopeOf(args: JsonObject): TemplateScope {
  return { args, triggerData: null, executionId: 0, vars: {}, nodeOutput: () => null };
}

/**
 * Fills in the templates of a value. Nothing in `args` is taken for a template.
 * @throws RenderLimitError
 */
export function fillIn(value: JsonValue, args: JsonObject, budget: TemplateBudget): JsonValue {
  if (typeof value === 'string') return budget.render(templateOf(value), args);
  if (isJsonArray(value)) return value.map((item) => fillIn(item, args, budget));
  if (!isJsonObject(value) || isRawNumber(value)) return value;
  const filled: { [name: string]: JsonValue } = {};
  for (const [name, member] of Object.entries(value)) setOwn(filled, name, fillIn(member, args, budget));
  return filled;
}

/** Whether a setting says nothing: what isn't sent. */
function isEmpty(value: JsonValue): boolean {
  if (value === null || value === '') return true;
  if (isJsonArray(value)) return value.length === 0;
  return isJsonObject(value) && !isRawNumber(value) && Object.keys(value).length === 0;
}

/**
 * Like {@link fillIn}, without the members and items whose template finds nothing, and without objects and lists of nothing else.
 * @returns null if nothing is left
 * @throws RenderLimitError
 */
export function fillInGiven(value: JsonValue, args: JsonObject, budget: TemplateBudget): JsonValue {
  if (typeof value === 'string') {
    const filled = fillIn(value, args, budget);
    return value.includes('{{') && isEmpty(filled) ? null : filled;
  }
  if (isJsonArray(value)) {
    const items = value.map((item) => fillInGiven(item, args, budget)).filter((item) => item !== null);
    return items.length === 0 && value.length > 0 ? null : items;
  }
  if (!isJsonObject(value) || isRawNumber(value)) return value;
  const filled: { [name: string]: JsonValue } = {};
  for (const [name, member] of Object.entries(value)) {
    const given = fillInGiven(member, args, budget);
    if (given !== null) setOwn(filled, name, given);
  }
  return Object.keys(filled).length === 0 && Object.keys(value).length > 0 ? null : filled;
}

/** The text of one template. Lists and objects become JSON. */
export function fillInText(text: string, args: JsonObject, budget: TemplateBudget): string {
  const filled = fillIn(text, args, budget);
  if (filled === null) return '';
  return scalarText(filled) ?? stringifyJson(filled);
}

/**
 * Fills in a path. Each value is encoded by itself, so that none can add or leave a segment.
 * @param whole settings whose value may consist of several segments
 * @throws NodeProblem for a value that would be no segment, or another one
 */
export function fillInPath(
  path: string,
  args: JsonObject,
  whole: readonly string[],
  budget: TemplateBudget,
): string {
  const template = templateOf(path);
  if (template.kind === 'constant') return path;
  const parts = template.kind === 'text' ? template.parts : [];
  return parts
    .map((part) => {
      if (typeof part === 'string') return part;
      const one: Template = { kind: 'expression', expression: part };
      const setting = settingOf(one);
      const segments = textOf(budget.render(one, args), setting);
      return (whole.includes(setting) ? segments.split('/') : [segments])
        .map((segment) => encoded(segment, setting))
        .join('/');
    })
    .join('');
}

/** The setting that an expression reads first. */
function settingOf(template: Template): string {
  return listPaths(template)[0]?.names[1] ?? '';
}

function textOf(value: JsonValue, setting: string): string {
  const text = value === null ? '' : scalarText(value);
  if (text !== undefined) return text;
  throw new NodeProblem(message('nodes.not_scalar', { where: `config.${setting}`, given: typeName(value) }));
}

/** A segment as such, whatever it contains. Browsers and servers take `.` and `..` for steps. */
function encoded(segment: string, setting: string): string {
  if (segment.trim() === '') throw new NodeProblem(message('nodes.path_value_empty', { name: setting }));
  if (segment === '.' || segment === '..') {
    throw new NodeProblem(message('nodes.path_value_dots', { name: setting }));
  }
  return encodeURIComponent(segment.toWellFormed());
}
