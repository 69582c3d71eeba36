import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from './list-search.ts';

/** The list of workflows and the templates to begin with. */
export function workflowListRoutes<Parent extends AnyRoute>(parent: Parent) {
  const getParentRoute = () => parent;
  return [
    createRoute({
      getParentRoute,
      path: 'workflows',
      validateSearch: readListSearch,
      component: lazyRouteComponent(() => import('./workflows-page.tsx'), 'WorkflowsPage'),
    }),
    createRoute({
      getParentRoute,
      path: 'templates',
      component: lazyRouteComponent(() => import('./templates-page.tsx'), 'TemplatesPage'),
    }),
  ] as const;
}
