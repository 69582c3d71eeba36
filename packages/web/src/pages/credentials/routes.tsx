import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';

/** Credentials of the organisation. */
export function credentialRoutes<Parent extends AnyRoute>(parent: Parent) {
  return [
    createRoute({
      getParentRoute: () => parent,
      path: 'credentials',
      component: lazyRouteComponent(() => import('./credentials-page.tsx'), 'CredentialsPage'),
    }),
  ] as const;
}
