import { HEADING, timeHeading, whileVisited } from '../editor/heading.ts';
import { largeFlow, signIn } from '../editor/page.ts';
import type { Metric, Row } from '../row.ts';
import { createWorkflow, executeUntil } from '../tenant.ts';

const NODES = 20;

/** Pages by their ids in the results. */
const PAGES = [
  { id: 'sign_in', label: 'sign-in' },
  { id: 'workflows', label: 'list of workflows' },
  { id: 'editor', label: 'editor' },
  { id: 'executions', label: 'executions' },
  { id: 'execution', label: 'execution' },
  { id: 'versions', label: 'versions of a workflow' },
  { id: 'templates', label: 'gallery' },
  { id: 'settings', label: 'settings' },
] as const;

/** Until the first heading of a page is shown, at a slow connection, with nothing cached. */
export const firstViewRow: Row = {
  id: 'first-view',
  metrics: PAGES.map(
    ({ id, label }): Metric => ({
      id: `first-view.${id}_heading`,
      section: 'First view',
      label: `${label}: ${HEADING}`,
      unit: 'ms',
    }),
  ),
  measure: (bench) =>
    whileVisited(bench, 'first-view', async ({ baseUrl, tenant, browser }) => {
      const workflowId = await createWorkflow(baseUrl, tenant, 'first view', largeFlow(NODES));
      const executionId = await executeUntil(baseUrl, tenant, workflowId, 'completed');
      const session = await signIn(bench.db, tenant.organisationId);
      const home = `/o/${tenant.organisationId}`;
      const paths = {
        sign_in: '/sign-in',
        workflows: `${home}/workflows`,
        editor: `${home}/workflows/${workflowId}`,
        executions: `${home}/executions`,
        execution: `${home}/executions/${executionId}`,
        versions: `${home}/workflows/${workflowId}/versions`,
        templates: `${home}/templates`,
        settings: `${home}/settings`,
      };
      const readings: [string, number][] = [];
      for (const { id } of PAGES) {
        const visit = { baseUrl, path: paths[id], session: id === 'sign_in' ? null : session };
        readings.push([`first-view.${id}_heading`, await timeHeading(browser, visit)]);
      }
      return Object.fromEntries(readings);
    }),
};
