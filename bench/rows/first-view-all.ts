import { PAGE_KINDS } from '../../packages/web/e2e/support/page-kinds.ts';
import { HEADING, timeHeading, whileVisited } from '../editor/heading.ts';
import { largeFlow, signIn } from '../editor/page.ts';
import type { Metric, Row } from '../row.ts';
import { createWorkflow, executeUntil } from '../tenant.ts';

const NODES = 20;
const LANGUAGES = [
  { language: 'en', name: 'English' },
  { language: 'ja', name: 'Japanese' },
] as const;

const VIEWS = Object.values(PAGE_KINDS)
  .flat()
  .flatMap(({ what, path }) =>
    LANGUAGES.map(({ language, name }) => ({
      id: `first-view-all.${what.toLowerCase().replaceAll(' ', '_')}_${language}`,
      label: `${what}, ${name}`,
      ...{ path, language },
    })),
  );

/** Like `first-view`: every kind of page that the router knows, in both languages. */
export const firstViewAllRow: Row = {
  id: 'first-view-all',
  isNamedOnly: true,
  metrics: VIEWS.map(
    ({ id, label }): Metric => ({ id, section: 'First view', label: `${label}: ${HEADING}`, unit: 'ms' }),
  ),
  measure: (bench) =>
    whileVisited(bench, 'first-view-all', async ({ baseUrl, tenant, browser }) => {
      const run = async (nodes: object, status: 'completed' | 'failed' | 'waiting_async') => {
        const workflowId = await createWorkflow(baseUrl, tenant, `first view, ${status}`, nodes);
        return { workflowId, executionId: await executeUntil(baseUrl, tenant, workflowId, status) };
      };
      const { workflowId, executionId } = await run(largeFlow(NODES), 'completed');
      const again = await executeUntil(baseUrl, tenant, workflowId, 'completed');
      const failed = await run(startAnd('core.fail', { code: 'broken', message: 'It broke.' }), 'failed');
      const waiting = await run(startAnd('wait.approval', { title: 'Go on?' }), 'waiting_async');
      const facts = {
        ...{ workflowId, executionIds: [executionId, again, failed.executionId] },
        ...{ waitingId: waiting.executionId, nodeId: 'last' },
      };
      const session = await signIn(bench.db, tenant.organisationId, 'system_admin');
      const readings: [string, number][] = [];
      for (const { id, path, language } of VIEWS) {
        const place = path(facts);
        // What people see before they sign in.
        const isOutside = place.startsWith('/') && place !== '/account';
        const visit = {
          ...{ baseUrl, language, session: isOutside ? null : session },
          path: place.startsWith('/') ? place : `/o/${tenant.organisationId}/${place}`,
        };
        readings.push([id, await timeHeading(browser, visit)]);
      }
      return Object.fromEntries(readings);
    }),
};

/** A flow of a start and one node. */
function startAnd(type: string, config: object): object {
  return {
    nodes: [
      { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
      { id: 'last', type, position: { x: 300, y: 0 }, data: { config } },
    ],
    edges: [{ id: 'edge', source: 'start', target: 'last' }],
  };
}
