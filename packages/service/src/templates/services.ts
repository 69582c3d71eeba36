import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import type { Template } from './catalogue.ts';

/**
 * The types of the nodes that get a credential of the setup: those of its workflows and of the tools of their agents, by the variable or by where it
 * stands.
 */
export function nodeTypesOf(
  { workflow, companions }: Template,
  { var: name, pointer }: Template['setup'][number],
): readonly string[] {
  const flows = [workflow, ...companions.map((each) => each.workflow)].map(({ flow_data: flow }) => flow);
  const index = /^\/nodes\/(\d+)\/data\/config\/credential_id$/.exec(pointer ?? '')?.[1];
  const pointed = index === undefined ? undefined : workflow.flow_data.nodes[Number(index)]?.type;
  const found = flows.flatMap(({ nodes }) => typesIn(nodes as unknown as JsonValue, `{{vars.${name}}}`));
  return [...new Set([...(pointed === undefined ? [] : [pointed]), ...found])];
}

/** Of whatever has a type and a config with this credential, at any depth. */
function typesIn(value: JsonValue, credential: string): string[] {
  if (isJsonArray(value)) return value.flatMap((each) => typesIn(each, credential));
  if (!isJsonObject(value)) return [];
  const { type, data, config } = value;
  const given = objectOf(config ?? objectOf(data).config).credential_id;
  const own = typeof type === 'string' && given === credential ? [type] : [];
  return [...own, ...Object.values(value).flatMap((each) => typesIn(each, credential))];
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}
