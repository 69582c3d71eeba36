import { executionStoreContract, MemoryStore } from './support/index.ts';

executionStoreContract('memory', async () => {
  let nowMs = 1_000_000;
  let workers = 0;
  let organisations = 1;
  const store = new MemoryStore({ now: () => nowMs, leaseMs: 30_000, maxCrashedAttempts: 3 });
  return {
    store,
    newWorkerId: () => {
      workers += 1;
      return `worker-${workers}`;
    },
    newRequest: (executionId) => ({
      executionId,
      organisationId: 1,
      workflowId: 1,
      workflowVersion: 1,
      triggerType: 'test.trigger',
      displayName: 'Test',
      isTestMode: false,
      input: {},
      leaseTo: null,
      timeoutMs: null,
    }),
    newOrganisation: async () => {
      organisations += 1;
      return { organisationId: organisations, workflowId: organisations };
    },
    expireLease: async (workerId) => store.expireLease(workerId),
    endWait: async (executionId) => {
      nowMs = Math.max(nowMs, store.read(executionId)?.wakeAtMs ?? 0);
    },
    now: async () => nowMs,
    readExecution: async (executionId) => store.read(executionId),
    cleanup: async () => undefined,
  };
});
