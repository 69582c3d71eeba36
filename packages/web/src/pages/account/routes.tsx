import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';

const SIGN_ON_PROBLEMS = [
  'email_unverified',
  'unknown_person',
  'setup_needed',
  'unavailable',
  'refused',
  'stale',
  'failed',
] as const;

interface SignInSearch {
  /** Where to go on after it: a path of this page. */
  readonly next?: string;
  /** Why single sign-on did not work. */
  readonly problem?: (typeof SIGN_ON_PROBLEMS)[number];
}

function readSignInSearch({
  next,
  problem,
}: {
  readonly next?: unknown;
  readonly problem?: unknown;
}): SignInSearch {
  const known = SIGN_ON_PROBLEMS.find((each) => each === problem);
  return {
    ...(typeof next === 'string' && /^\/(?![/\\])[^\s\\]*$/.test(next) ? { next } : {}),
    ...(known === undefined ? {} : { problem: known }),
  };
}

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
