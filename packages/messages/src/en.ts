import api from './en/api.json' with { type: 'json' };
import flow from './en/flow.json' with { type: 'json' };
import nodes from './en/nodes.json' with { type: 'json' };
import run from './en/run.json' with { type: 'json' };

/** The English texts, by part: the first word of a key. */
export const en = { api, flow, nodes, run } as const;
