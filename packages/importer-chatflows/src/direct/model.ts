import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import type { DirectStep } from './maker.ts';

type Config = { [name: string]: JsonValue };

/** The settings of a model, with a credential to be chosen. */
export function modelSettings(step: DirectStep, name: string | null, settings: JsonObject): Config {
  step.approximate(message('import.choose_model_credential'));
  const temperature = numberIn(settings.temperature);
  const most = numberIn(
    settings.max_tokens ?? settings.maxTokens ?? settings.maxOutputTokens ?? settings.maxTokensToSample,
  );
  return {
    credential_id: 0,
    model: name ?? '',
    ...(temperature !== null && temperature >= 0 && temperature <= 2 ? { temperature } : {}),
    ...(most !== null && most >= 1 && most <= 1_000_000 ? { max_tokens: Math.floor(most) } : {}),
  };
}

/** A number, which some products keep as a text. */
export function numberIn(value: JsonValue | undefined): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** Turns of a conversation as instructions and a prompt: a model is asked once here. */
export function asked(turns: readonly { readonly role: string; readonly text: string }[]): {
  readonly system: string;
  readonly prompt: string;
} {
  const said = turns.filter(({ text }) => text.trim() !== '');
  const isSystem = ({ role }: { readonly role: string }) => role === 'system' || role === 'developer';
  const system = said.filter(isSystem).map(({ text }) => text);
  const others = said.filter((turn) => !isSystem(turn));
  const [only] = others;
  const prompt =
    others.length === 1 && only !== undefined
      ? only.text
      : others
          .map(({ role, text }) => `${role === 'assistant' ? 'Assistant' : 'User'}: ${text}`)
          .join('\n\n');
  return { system: system.join('\n\n'), prompt };
}

const TYPES: { readonly [type: string]: JsonObject } = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  bool: { type: 'boolean' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
  array: { type: 'array' },
  'array[string]': { type: 'array', items: { type: 'string' } },
  'array[number]': { type: 'array', items: { type: 'number' } },
  'array[object]': { type: 'array', items: { type: 'object' } },
  'array[boolean]': { type: 'array', items: { type: 'boolean' } },
  stringarray: { type: 'array', items: { type: 'string' } },
  jsonarray: { type: 'array', items: { type: 'object' } },
};

/** A field that a model fills in. */
export interface ModelField {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly choices: readonly JsonValue[];
  readonly isRequired: boolean;
}

/** A JSON Schema for fields. */
export function schemaOf(fields: readonly ModelField[]): JsonObject {
  const named = fields.filter(({ name }) => name !== '' && name !== '__proto__');
  return {
    type: 'object',
    properties: Object.fromEntries(
      named.map(({ name, type, description, choices }) => [
        name,
        {
          ...(choices.length > 0 ? { enum: choices } : (TYPES[type.toLowerCase()] ?? { type: 'string' })),
          ...(description === '' ? {} : { description }),
        },
      ]),
    ),
    required: named.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  };
}

/** A schema that was written out, if it is one. */
export function schemaIn(value: JsonValue | undefined): JsonObject | null {
  const schema = objectOf(value);
  return isJsonObject(schema.properties ?? null) || textOf(schema.type) !== null ? schema : null;
}
