import { type NodeServices, success } from '@millrace/engine';

/** Children that complete as soon as they start, URLs that lead nowhere, tools that do nothing. */
export const fakeWaits: Pick<NodeServices, 'workflows' | 'callbacks' | 'tools'> = {
  workflows: {
    start: async () => ({ executionId: 18, workflowVersion: 3 }),
    result: async (executionId) => ({
      executionId,
      status: 'completed',
      output: { total: 42.5 },
      error: null,
      consumedAiTokens: 0,
    }),
    ended: (executionId) => fakeWaits.workflows.result(executionId),
  },
  callbacks: {
    createCallback: async () => ({ url: 'https://flows.example.com/api/v1/callbacks/your-token' }),
    createApproval: async ({ choices }) => {
      const url = 'https://flows.example.com/api/v1/approvals/your-token';
      return {
        url,
        choiceUrls: Object.fromEntries(choices.map(({ id }) => [id, `${url}?choice=${id}`])),
      };
    },
  },
  tools: { run: async () => success({ status: 202 }) as Awaited<ReturnType<NodeServices['tools']['run']>> },
};
