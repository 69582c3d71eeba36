import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';

/** Settings of the organisation. */
export function settingsRoutes<Parent extends AnyRoute>(parent: Parent) {
  return [
    createRoute({
      getParentRoute: () => parent,
      path: 'settings',
      component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
    }),
  ] as const;
}
