import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readCompareSearch, readDetailSearch, readListSearch } from './common/search.ts';

/** The list of executions, one execution, and two of them side by side. */
export function executionRoutes<Parent extends AnyRoute>(parent: Parent) {
  const getParentRoute = () => parent;
  return [
    createRoute({
      getParentRoute,
      path: 'executions',
      validateSearch: readListSearch,
      component: lazyRouteComponent(() => import('./list/executions-page.tsx'), 'ExecutionsPage'),
    }),
    createRoute({
      getParentRoute,
      path: 'executions/compare',
      validateSearch: readCompareSearch,
      component: lazyRouteComponent(() => import('./comparison/compare-page.tsx'), 'ComparePage'),
    }),
    createRoute({
      getParentRoute,
      path: 'executions/$execution',
      validateSearch: readDetailSearch,
      component: lazyRouteComponent(() => import('./detail/execution-page.tsx'), 'ExecutionPage'),
    }),
  ] as const;
}
