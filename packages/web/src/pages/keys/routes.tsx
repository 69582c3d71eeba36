import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';

/** API keys of the organisation. */
export function keyRoutes<Parent extends AnyRoute>(parent: Parent) {
  return [
    createRoute({
      getParentRoute: () => parent,
      path: 'keys',
      component: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
    }),
  ] as const;
}
