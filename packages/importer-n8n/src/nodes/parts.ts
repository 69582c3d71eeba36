import type { JsonValue } from '@millrace/engine';
import { isJsonObject } from '@millrace/engine';
import { type N8nNode, parameterAt } from '../read.ts';
import type { Step } from '../step.ts';

/** A credential that has to be chosen after the import. */
export const AUTH = { type: 'credential', credential_id: 0 };

/** A parameter of a node that is connected as a part of another, read where that one stands; undefined if it isn't set. */
export function partParam(step: Step, part: N8nNode, path: string): JsonValue | undefined {
  const given = parameterAt(part.parameters, path);
  if (given === undefined) return undefined;
  const value = isJsonObject(given) && 'value' in given ? (given.value ?? null) : given;
  return step.value(value);
}

/** The model that is asked if none is named. */
export function defaultModel(kind: string): string {
  if (/Gemini/i.test(kind)) return 'gemini-2.5-flash';
  if (/Anthropic/i.test(kind)) return 'claude-sonnet-4-5';
  return 'gpt-4.1-mini';
}
