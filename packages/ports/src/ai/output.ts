import {
  type AiAnswer,
  type AiRequest,
  isJsonArray,
  isJsonObject,
  type JsonSchema,
  type JsonValue,
  stringifyJson,
  tryParseJson,
  validateValue,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { AnswerProblem } from './errors.ts';

/** The schema as sent to a provider. */
export interface WireSchema {
  readonly schema: JsonSchema;
  /** Providers enforce objects only: any other type is requested as the property `value` of one. */
  readonly isWrapped: boolean;
  /** Whether it meets the rules of OpenAI's strict mode. */
  readonly isStrict: boolean;
}

export function toWireSchema(schema: JsonSchema): WireSchema {
  // Client libraries copy schemas in ways that lose numbers kept as text.
  const plain = JSON.parse(stringifyJson(schema as JsonValue)) as JsonSchema;
  if (plain.type === 'object' || plain.$ref !== undefined) {
    return { schema: plain, isWrapped: false, isStrict: isStrict(plain) };
  }
  const { $defs, definitions, ...inner } = plain;
  const wrapped = {
    type: 'object',
    properties: { value: inner },
    required: ['value'],
    additionalProperties: false,
    // References start at the root, so their targets have to stay there.
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
  return { schema: wrapped, isWrapped: true, isStrict: isStrict(wrapped) };
}

const NOT_STRICT = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
  'prefixItems',
  'contains',
  'unevaluatedProperties',
  'default',
];

/**
 * OpenAI's strict mode accepts only closed objects whose properties are all required, and a subset of JSON Schema
 * (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas). Other schemas are sent without `strict`.
 */
function isStrict(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false;
  const {
    type,
    $ref,
    anyOf,
    enum: values,
    const: constant,
    properties,
    required,
    items,
    $defs,
  } = schema as {
    readonly [keyword: string]: unknown;
  };
  if (NOT_STRICT.some((keyword) => Object.hasOwn(schema, keyword))) return false;
  const members = typeof properties === 'object' && properties !== null ? Object.entries(properties) : [];
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
  if (isObject) {
    const names = Array.isArray(required) ? required : [];
    const isClosed = (schema as { additionalProperties?: unknown }).additionalProperties === false;
    if (!isClosed || members.some(([name]) => !names.includes(name))) return false;
  }
  if (type === undefined && [$ref, anyOf, values, constant].every((each) => each === undefined)) return false;
  const parts = [
    ...members.map(([, part]) => part),
    ...(Array.isArray(anyOf) ? anyOf : []),
    ...(items === undefined ? [] : [items]),
    ...Object.values($defs ?? {}),
  ];
  return parts.every(isStrict);
}

/** The instruction for a model when nothing else enforces the schema. */
export function schemaInstruction(schema: JsonSchema): string {
  return `Answer with one JSON value that fits this JSON Schema, and with nothing else: no explanation, no code fence.\n${stringifyJson(schema as JsonValue)}`;
}

const MAX_TEXT_KEPT = 4_000;
const MAX_PROBLEMS = 5;

/**
 * Fills in `object` of a response that has to be JSON. Turns in which the model calls tools are not its final response yet.
 * @throws AnswerProblem `ai_invalid_output`
 */
export function readOutput(answer: AiAnswer, request: AiRequest): AiAnswer {
  if (request.outputSchema === null || answer.toolCalls.length > 0) return answer;
  const { isWrapped } = toWireSchema(request.outputSchema);
  const kept = { text: answer.text.slice(0, MAX_TEXT_KEPT) };
  // Some models add code fences although instructed not to.
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/i.exec(answer.text)?.[1];
  const value = tryParseJson((fenced ?? answer.text).trim());
  if (value === undefined) {
    const isCut = answer.finishReason === 'length';
    const problem = isCut ? message('ports.answer_cut_by_limit') : message('ports.answer_not_json');
    throw new AnswerProblem('ai_invalid_output', problem, !isCut, kept);
  }
  const object = isWrapped ? unwrap(value, request.outputSchema) : value;
  const problems = validateValue(request.outputSchema, object);
  if (problems.length === 0) return { ...answer, object };
  const faults = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ pointer, message: fault }) =>
      pointer === '' ? message('ports.at_answer', { fault }) : message('flow.at_pointer', { pointer, fault }),
    );
  throw new AnswerProblem('ai_invalid_output', message('ports.answer_mismatch', { faults }), true, {
    ...kept,
    errors: faults.map(inEnglish),
  });
}

/** A model that only had the instructions may have responded without the wrapper. */
function unwrap(value: JsonValue, schema: JsonSchema): JsonValue {
  if (!isJsonObject(value) || Object.keys(value).length !== 1) return value;
  const inner = value.value;
  if (inner === undefined || isJsonArray(value)) return value;
  return validateValue(schema, value).length === 0 && validateValue(schema, inner).length > 0 ? value : inner;
}
