import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readAuditSearch } from './audit-search.ts';

/** The audit log of the organisation. */
export function auditRoutes<Parent extends AnyRoute>(parent: Parent) {
  return [
    createRoute({
      getParentRoute: () => parent,
      path: 'audit',
      validateSearch: readAuditSearch,
      component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
    }),
  ] as const;
}
