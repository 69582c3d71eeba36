import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import type { Template } from './catalogue.ts';

type Step = Template['setup'][number];

/** A node, or the tool of one, that gets a credential. */
export interface CredentialUser {
  readonly type: string;
  /** Its settings. One that is asked for is a variable, also where the answer goes to the node itself. */
  readonly config: JsonObject;
}

/**
 * Finds the nodes that get the credentials of a template: those of its workflows and of the tools of their agents, by the variable or by where it
 * stands.
 * @returns tells those that get the credential of a step
 */
export function credentialUsers(template: Template): (step: Step) => readonly CredentialUser[] {
  const { workflow, companions } = template;
  const users = new Map<JsonValue, CredentialUser[]>();
  /** Whatever has a type and a config, at any depth. */
  function collect(value: JsonValue): void {
    if (isJsonArray(value)) value.forEach(collect);
    if (!isJsonObject(value)) return;
    const { type, config } = value;
    if (typeof type === 'string' && config !== undefined && isJsonObject(config)) {
      const { credential_id: given = null } = config;
      users.set(given, [...(users.get(given) ?? []), { type, config }]);
    }
    Object.values(value).forEach(collect);
  }
  for (const { flow_data: flow } of [workflow, ...companions.map((each) => each.workflow)])
    for (const { type, data } of flow.nodes) collect({ type, config: data?.config ?? {} });
  return ({ var: name, pointer }) => {
    const index = /^\/nodes\/(\d+)\/data\/config\/credential_id$/.exec(pointer ?? '')?.[1];
    const pointed = index === undefined ? undefined : workflow.flow_data.nodes[Number(index)];
    const found = users.get(variable(name)) ?? [];
    if (pointed === undefined) return found;
    const { type, data } = pointed;
    return [{ type, config: { ...data?.config, ...askedFor(template, Number(index)) } }, ...found];
  };
}

/** The settings of a node that the setup names by where they stand. */
function askedFor({ setup }: Template, index: number): JsonObject {
  const start = `/nodes/${index}/data/config/`;
  return Object.fromEntries(
    setup.flatMap(({ var: name, pointer = '' }): [string, string][] =>
      pointer.startsWith(start) ? [[pointer.slice(start.length), variable(name)]] : [],
    ),
  );
}

function variable(name: string): string {
  return `{{vars.${name}}}`;
}
