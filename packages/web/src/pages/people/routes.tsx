import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';

/** Members and invitations of an organisation, and all organisations for who administers the service. */
export function peopleRoutes<Parent extends AnyRoute>(parent: Parent) {
  const getParentRoute = () => parent;
  return [
    createRoute({
      getParentRoute,
      path: 'members',
      validateSearch: ({ tab }: { readonly tab?: unknown }): { readonly tab?: 'invitations' } =>
        tab === 'invitations' ? { tab } : {},
      component: lazyRouteComponent(() => import('./members-page.tsx'), 'MembersPage'),
    }),
    createRoute({
      getParentRoute,
      path: 'organisations',
      component: lazyRouteComponent(() => import('./organisations-page.tsx'), 'OrganisationsPage'),
    }),
  ] as const;
}
