import type { FlowProblem } from '@millrace/admin-api';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { isMessage, type Message } from '@millrace/messages';
import { presentMessage } from '@millrace/messages/english';
import { type Said, translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import type { KnownType } from './editor-state.ts';

/** What is wrong, without the node's name: for places that show which node it is. */
export function withoutNode({ message, key, params }: FlowProblem, type?: KnownType): Said {
  const problem = key === 'flow.at_node' ? params.problem : undefined;
  return isMessage(problem) ? presentMessage(withTitle(problem, type)) : { message, key, params };
}

/**
 * The same in the reader's language, as a sentence.
 * @param type the node's: settings are then called as in its form
 */
export function problemText(problem: FlowProblem, type?: KnownType): string {
  const text = translateMessage(withoutNode(problem, type));
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function withTitle(problem: Message, type: KnownType | undefined): Message {
  const path = problem.key === 'flow.at_value' ? problem.params?.path : undefined;
  const title = typeof path === 'string' ? titleAt(type?.config_schema as JsonValue | undefined, path) : null;
  return title === null ? problem : { ...problem, params: { ...problem.params, path: title } };
}

/** What a form calls the setting at a path in dots: `Cases 2 › Name`. Null if it shows no such setting. */
function titleAt(schema: JsonValue | undefined, path: string): string | null {
  const titles: string[] = [];
  let place = schema;
  for (const step of path.split('.')) {
    const isIndex = /^\d+$/.test(step);
    place = alternativesOf(place)
      .map((each) => (isIndex ? each.items : memberOf(each.properties, step)))
      .find((each) => each !== undefined);
    const title = memberOf(place, 'title');
    if (isIndex && titles.length > 0) titles.push(`${titles.pop()} ${Number(step) + 1}`);
    else if (typeof title === 'string') titles.push(title);
    else return null;
  }
  return place === undefined ? null : titles.join(' › ');
}

/** A schema, and what it may be instead. */
function alternativesOf(schema: JsonValue | undefined): readonly JsonObject[] {
  if (schema === undefined || !isJsonObject(schema)) return [];
  const { anyOf } = schema;
  return [schema, ...(anyOf !== undefined && isJsonArray(anyOf) ? anyOf.filter(isJsonObject) : [])];
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return value !== undefined && isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
