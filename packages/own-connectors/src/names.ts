import { isJsonArray, isJsonObject, isRawNumber, type JsonValue } from '@millrace/engine';

/** Types of an organisation's own connectors: `own.<connector>.<operation>`, `trigger.own.<connector>.<trigger>`. */
const OWN_TYPE = /"(?:trigger\.)?own\.([a-z][a-z0-9_]{0,59})\.[a-z]/g;

/** Whether a text could be the id of a connector's file. */
export function isConnectorName(text: string): boolean {
  return /^[a-z][a-z0-9_]{0,59}$/.test(text);
}

/** Whether a type belongs to a connector that an organisation has uploaded. */
export function isOwnType(type: string): boolean {
  return type.startsWith('own.') || isOwnTrigger(type);
}

/** Whether a type is that of an organisation's own trigger. All of them poll. */
export function isOwnTrigger(type: string): boolean {
  return type.startsWith('trigger.own.');
}

/**
 * The connectors whose node types a flow may name, by its JSON: also those of an agent's tools, wherever they stand. One too many is
 * harmless.
 */
export function ownNamesIn(flowJson: string): readonly string[] {
  if (!flowJson.includes('own.')) return [];
  return [...new Set([...flowJson.matchAll(OWN_TYPE)].map(([, name = '']) => name))];
}

/** Whether a flow that wasn't stored yet may name one. */
export function mayNameOwn(flow: JsonValue): boolean {
  if (typeof flow === 'string') return isOwnType(flow);
  if (isJsonArray(flow)) return flow.some(mayNameOwn);
  return isJsonObject(flow) && !isRawNumber(flow) && Object.values(flow).some(mayNameOwn);
}
