import type { JsonObject, JsonValue } from '@millrace/engine';
import { choice } from '@millrace/node-kit/choice';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { type Static, Type } from 'typebox';
import { filesProperty } from './files.ts';
import { memoryProperties } from './memory-config.ts';

export const MAX_CALL_TIMEOUT_MS = 600_000;
const MAX_TOKENS = 1_000_000;

/** A prompt is text; other values produced by a template are inserted as JSON. */
export const promptSchema = (
  title: string,
  description: string,
  marks: { readonly 'x-filled'?: true } = {},
) =>
  Type.Unsafe<JsonValue>({
    type: ['string', 'object', 'array', 'number', 'boolean'],
    title,
    description,
    default: '',
    'x-multiline': true,
    ...marks,
  });

/** The settings shared by all nodes that call a model, as the editor shows them. */
export const callProperties = {
  credential_id: credentialProperty(['ai'], 'Credential', 'The AI provider, with its base URL and key.'),
  model: Type.String({
    title: 'Model',
    description:
      "The provider's name for the model, such as gpt-4.1-mini, claude-sonnet-4-5 or gemini-2.5-flash.",
    maxLength: 200,
    default: '',
    'x-filled': true,
    'x-options': 'credential_id',
  }),
  temperature: Type.Union([Type.Number({ minimum: 0, maximum: 2 }), Type.Null()], {
    title: 'Temperature',
    description:
      "0 for the most likely words, higher for more variety. Empty: the model's default. Some models don't support it.",
    default: null,
  }),
  max_tokens: Type.Union([Type.Integer({ minimum: 1, maximum: MAX_TOKENS }), Type.Null()], {
    title: 'Maximum answer tokens',
    description: "Empty: the model's own limit. Lowered if less is left of the token budget.",
    default: null,
  }),
  timeout_ms: Type.Integer({
    title: 'Timeout',
    description: 'Time limit for one answer in milliseconds, from the request to its last word.',
    minimum: 1,
    maximum: MAX_CALL_TIMEOUT_MS,
    default: 120_000,
  }),
};

export type CallConfig = Static<ReturnType<typeof Type.Object<typeof callProperties>>>;

/** The settings of nodes that ask whatever their author wants to know. */
export const modelProperties = {
  ...callProperties,
  system: promptSchema(
    'Instructions',
    "The model's role and how it should answer. Put data in the prompt, not here.",
  ),
  prompt: promptSchema('Prompt', 'The question. Objects and lists are inserted as JSON.', {
    'x-filled': true,
  }),
  files: filesProperty,
  output: choice(
    'Answer',
    'JSON: the answer is a single value that matches the schema, in output.json.',
    { text: 'Text', json: 'JSON' },
    { default: 'text' },
  ),
  schema: Type.Unsafe<JsonObject>({
    type: 'object',
    title: 'Schema',
    'x-when': { output: ['json'] },
    description:
      "JSON Schema that the answer must match. One that doesn't fails with ai_invalid_output and is retried.",
    default: {},
    'x-code': 'json',
    'x-json-schema': true,
  }),
  ...memoryProperties,
};

export type ModelConfig = Static<ReturnType<typeof Type.Object<typeof modelProperties>>>;

/** The settings required for any call. */
export const MODEL_REQUIRED = ['credential_id', 'model', 'prompt'] as const;

/** Three attempts: rate limits and overload at providers pass within seconds, and each attempt may cost money. */
export const MODEL_RETRY = { maxAttempts: 3, backoffMs: 2_000, maxBackoffMs: 60_000 };
