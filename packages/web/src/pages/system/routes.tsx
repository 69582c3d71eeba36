import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';

/** The service as a whole, for who runs it. */
export function systemRoutes<Parent extends AnyRoute>(parent: Parent) {
  return [
    createRoute({
      getParentRoute: () => parent,
      path: 'system',
      component: lazyRouteComponent(() => import('./system-page.tsx'), 'SystemPage'),
    }),
  ] as const;
}
