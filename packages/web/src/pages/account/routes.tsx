import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readSignInSearch } from './sign-in-search.ts';

/** Everything outside of an organisation: the ways in, and one's own account. */
export function accountRoutes<Parent extends AnyRoute>(parent: Parent) {
  const getParentRoute = () => parent;
  return [
    createRoute({
      getParentRoute,
      path: '/sign-in',
      validateSearch: readSignInSearch,
      component: lazyRouteComponent(() => import('./sign-in.tsx'), 'SignInPage'),
    }),
    createRoute({
      getParentRoute,
      path: '/setup',
      component: lazyRouteComponent(() => import('./setup.tsx'), 'SetupPage'),
    }),
    createRoute({
      getParentRoute,
      path: '/invitation',
      component: lazyRouteComponent(() => import('./invitation.tsx'), 'InvitationPage'),
    }),
    createRoute({
      getParentRoute,
      path: '/account',
      component: lazyRouteComponent(() => import('./account.tsx'), 'AccountPage'),
    }),
  ] as const;
}
