import { isJsonArray, isJsonObject, type JsonValue } from '@millrace/engine';
import type { Template } from './catalogue.ts';

type Step = Template['setup'][number];

/**
 * Finds the nodes that get the credentials of a template: those of its workflows and of the tools of their agents, by the variable or by where it
 * stands.
 * @returns tells the types of those that get the credential of a step
 */
export function credentialUsers({ workflow, companions }: Template): (step: Step) => readonly string[] {
  const users = new Map<JsonValue, string[]>();
  /** Whatever has a type and a config, at any depth. */
  function collect(value: JsonValue): void {
    if (isJsonArray(value)) value.forEach(collect);
    if (!isJsonObject(value)) return;
    const { type, config } = value;
    if (typeof type === 'string' && config !== undefined && isJsonObject(config)) {
      const { credential_id: given = null } = config;
      users.set(given, [...(users.get(given) ?? []), type]);
    }
    Object.values(value).forEach(collect);
  }
  for (const { flow_data: flow } of [workflow, ...companions.map((each) => each.workflow)])
    for (const { type, data } of flow.nodes) collect({ type, config: data?.config ?? {} });
  return ({ var: name, pointer }) => {
    const index = /^\/nodes\/(\d+)\/data\/config\/credential_id$/.exec(pointer ?? '')?.[1];
    const pointed = index === undefined ? undefined : workflow.flow_data.nodes[Number(index)]?.type;
    const found = users.get(`{{vars.${name}}}`) ?? [];
    return [...new Set([...(pointed === undefined ? [] : [pointed]), ...found])];
  };
}
