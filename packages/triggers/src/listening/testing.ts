import { findProblems, type JsonObject, type ListenSource, type NodeDefinition } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';

/** What a trigger listens to under a config. @throws ServiceError if it doesn't match the schema */
export function sourceOf({ type, listening }: NodeDefinition, config: JsonObject): ListenSource {
  if (listening === undefined) throw new Error(`${type} does not listen`);
  return listening.source(config);
}

/** What a workflow whose only node is this trigger lacks: the setting, and what is said about it. */
export function faultsOf(trigger: NodeDefinition, config: JsonObject): readonly (readonly string[])[] {
  const { type } = trigger;
  const nodes = [{ id: 'start', type, data: { config } }];
  return findProblems({ nodes, edges: [] }, (asked) => (asked === type ? trigger : undefined)).map(
    ({ pointer, message }) => [
      pointer.replace('/flow_data/nodes/0/data/config', ''),
      inEnglish(message).replace('"start": ', ''),
    ],
  );
}
