import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';

/** Whether the questions that wait are shown, or those that were answered. */
export interface ApprovalsSearch {
  readonly state?: 'decided';
}

/** What waits for a decision. */
export function approvalRoutes<Parent extends AnyRoute>(parent: Parent) {
  return [
    createRoute({
      getParentRoute: () => parent,
      path: 'approvals',
      validateSearch: ({ state }: { readonly state?: unknown }): ApprovalsSearch =>
        state === 'decided' ? { state } : {},
      component: lazyRouteComponent(() => import('./approvals-page.tsx'), 'ApprovalsPage'),
    }),
  ] as const;
}
