/** What the addresses of pages are made of. */
export interface PageFacts {
  readonly workflowId: number;
  /** Of that workflow: two that succeeded, and one that failed. */
  readonly executionIds: readonly number[];
  /** An execution that waits for an approval. */
  readonly waitingId: number;
  /** A node that the failed execution has run. */
  readonly nodeId: string;
}

/** A page as people know it. */
export interface PageKind {
  readonly what: string;
  /** Within the organisation, or with a slash at the start. */
  readonly path: (facts: PageFacts) => string;
  /** What it is about, besides its heading: a selector. */
  readonly shows?: string;
}

const workflow =
  (tab = '') =>
  ({ workflowId }: PageFacts) =>
    `workflows/${workflowId}${tab}`;
const execution = ({ executionIds }: PageFacts, index: number) => executionIds[index] ?? 0;

/** What there is to see at each route of the router. */
export const PAGE_KINDS: { readonly [route: string]: readonly PageKind[] } = {
  '/o/$org/workflows': [
    { what: 'the list of workflows', path: () => 'workflows', shows: 'a[href*="/workflows/"]' },
  ],
  '/o/$org/templates': [{ what: 'the gallery', path: () => 'templates', shows: 'article' }],
  '/o/$org/executions': [
    { what: 'the list of executions', path: () => 'executions', shows: '[data-execution]' },
  ],
  '/o/$org/executions/compare': [
    {
      what: 'a comparison',
      path: (facts) => `executions/compare?a=${execution(facts, 0)}&b=${execution(facts, 1)}`,
    },
  ],
  '/o/$org/executions/$execution': [
    {
      what: 'an execution',
      path: (facts) => `executions/${execution(facts, 0)}`,
      shows: '.react-flow__node',
    },
    {
      what: 'a failed execution',
      path: (facts) => `executions/${execution(facts, 2)}`,
      shows: '.react-flow__node',
    },
    {
      what: 'an execution that waits',
      path: (facts) => `executions/${facts.waitingId}`,
      shows: '.react-flow__node',
    },
    {
      what: 'a node of an execution',
      path: (facts) => `executions/${execution(facts, 2)}?node=${facts.nodeId}`,
      shows: '.react-flow__node',
    },
  ],
  '/o/$org/approvals': [{ what: 'approvals', path: () => 'approvals' }],
  '/o/$org/credentials': [{ what: 'credentials', path: () => 'credentials' }],
  '/o/$org/ai-data': [{ what: 'AI data', path: () => 'ai-data' }],
  '/o/$org/keys': [{ what: 'keys', path: () => 'keys' }],
  '/o/$org/members': [{ what: 'members', path: () => 'members' }],
  '/o/$org/alerts': [{ what: 'alerts', path: () => 'alerts' }],
  '/o/$org/audit': [{ what: 'the audit log', path: () => 'audit' }],
  '/o/$org/settings': [{ what: 'settings', path: () => 'settings' }],
  '/o/$org/organisations': [{ what: 'organisations', path: () => 'organisations' }],
  '/o/$org/accounts': [{ what: 'accounts', path: () => 'accounts' }],
  '/o/$org/system': [{ what: 'the system', path: () => 'system' }],
  '/sign-in': [{ what: 'signing in', path: () => '/sign-in' }],
  '/setup': [{ what: 'setting up', path: () => '/setup' }],
  '/invitation': [{ what: 'an invitation', path: () => '/invitation' }],
  '/account': [{ what: 'the account', path: () => '/account' }],
  '/o/$org/workflows/$id': [
    { what: 'the editor', path: workflow(), shows: '.react-flow__node' },
    {
      what: 'the executions of a workflow',
      path: workflow('/executions'),
      shows: '[data-execution]',
    },
    { what: 'the versions of a workflow', path: workflow('/versions'), shows: '.react-flow__node' },
    { what: 'the settings of a workflow', path: workflow('/settings'), shows: 'textarea, input' },
  ],
};
