import api from './ja/api.json' with { type: 'json' };
import flow from './ja/flow.json' with { type: 'json' };
import nodes from './ja/nodes.json' with { type: 'json' };
import run from './ja/run.json' with { type: 'json' };

/** The Japanese texts, by part: the first word of a key. */
export const ja = { api, flow, nodes, run } as const;
