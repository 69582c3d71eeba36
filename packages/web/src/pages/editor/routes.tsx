import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readVersionSearch } from './version-search.ts';

/** The editor of one workflow. */
export function editorRoutes<Parent extends AnyRoute>(parent: Parent) {
  return [
    createRoute({
      getParentRoute: () => parent,
      path: 'workflows/$id',
      validateSearch: readVersionSearch,
      component: lazyRouteComponent(() => import('./editor-page.tsx'), 'EditorPage'),
    }),
  ] as const;
}
