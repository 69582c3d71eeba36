import type { NodeType } from './editor-state.ts';

/** A pure node type with this name, as the service lists it. */
export function nodeType(type: string, about: Partial<NodeType> = {}): NodeType {
  return {
    type,
    title: type,
    description: '',
    synonyms: [],
    output_example: null,
    icon: 'box',
    kind: 'pure',
    group: type.slice(0, type.indexOf('.')),
    config_schema: { type: 'object', properties: {} },
    first_config: {},
    handles: ['out'],
    examples: [],
    default_timeout_ms: null,
    default_retry: { max_attempts: 1, backoff_ms: 0, max_backoff_ms: 0 },
    ...about,
  };
}
