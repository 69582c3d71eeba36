import type { JsonValue } from '@millrace/engine';
import { isJsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import { type N8nNode, parameterOf } from '../read.ts';
import type { Step } from '../step.ts';

/** A credential that has to be chosen after the import. */
export const AUTH = { type: 'credential', credential_id: 0 };

/** A parameter of a node that is connected as a part of another, read where that one stands; undefined if it isn't set. */
export function partParam(step: Step, part: N8nNode, path: string): JsonValue | undefined {
  const given = parameterOf(part, path);
  if (given === undefined) return undefined;
  const value = isJsonObject(given) && 'value' in given ? (given.value ?? null) : given;
  return step.value(value);
}

/** How a model answers. */
export function modelOptions(
  step: Step,
  temperature: JsonValue | undefined,
  maxTokens: JsonValue | undefined,
): { readonly [name: string]: JsonValue } {
  // n8n's -1 stands for no limit.
  const options = { temperature, maxTokens: maxTokens === -1 ? undefined : maxTokens };
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && value !== '' && typeof value !== 'number')
      step.approximate(message('import.model_option_left_out', { name }));
  }
  return {
    ...(typeof temperature === 'number' && temperature >= 0 && temperature <= 2 ? { temperature } : {}),
    ...(typeof maxTokens === 'number' && maxTokens > 0 ? { max_tokens: Math.floor(maxTokens) } : {}),
  };
}

/** The model that is asked if none is named. */
export function defaultModel(kind: string): string {
  if (/Gemini/i.test(kind)) return 'gemini-2.5-flash';
  if (/Anthropic/i.test(kind)) return 'claude-sonnet-4-5';
  return 'gpt-4.1-mini';
}
