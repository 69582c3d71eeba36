import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readAccountsSearch, readMembersSearch } from './people-search.ts';

/** Members and invitations of an organisation; all organisations and accounts for who administers the service. */
export function peopleRoutes<Parent extends AnyRoute>(parent: Parent) {
  const getParentRoute = () => parent;
  return [
    createRoute({
      getParentRoute,
      path: 'members',
      validateSearch: readMembersSearch,
      component: lazyRouteComponent(() => import('./members-page.tsx'), 'MembersPage'),
    }),
    createRoute({
      getParentRoute,
      path: 'organisations',
      component: lazyRouteComponent(() => import('./organisations-page.tsx'), 'OrganisationsPage'),
    }),
    createRoute({
      getParentRoute,
      path: 'accounts',
      validateSearch: readAccountsSearch,
      component: lazyRouteComponent(() => import('./accounts-page.tsx'), 'AccountsPage'),
    }),
  ] as const;
}
