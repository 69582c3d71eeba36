import { endpointQuery } from '@millrace/ui/api/query.ts';
import { CrashedPage, MissingPage } from '@millrace/ui/components/states.tsx';
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { accountRoutes } from './pages/account/routes.tsx';
import { approvalRoutes } from './pages/approvals/routes.tsx';
import { auditRoutes } from './pages/audit/routes.tsx';
import { credentialRoutes } from './pages/credentials/routes.tsx';
import { editorRoutes } from './pages/editor/routes.tsx';
import { executionRoutes } from './pages/executions/routes.tsx';
import { keyRoutes } from './pages/keys/routes.tsx';
import { peopleRoutes } from './pages/people/routes.tsx';
import { settingsRoutes } from './pages/settings/routes.tsx';
import { systemRoutes } from './pages/system/routes.tsx';
import { workflowListRoutes } from './pages/workflows/routes.tsx';
import { chooseOrganisation } from './shell/last-organisation.ts';
import { Root } from './shell/root.tsx';

/** What every route's loader has at hand. */
interface RouterContext {
  readonly queryClient: QueryClient;
}

const rootRoute = createRootRouteWithContext<RouterContext>()({
  component: Root,
  notFoundComponent: MissingPage,
  errorComponent: CrashedPage,
});

const startRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: async ({ context: { queryClient } }) => {
    const state = await queryClient.fetchQuery(endpointQuery('GET /state'));
    if (state.needs_setup) throw redirect({ to: '/setup' });
    const me = await queryClient.fetchQuery(endpointQuery('GET /me'));
    const id = chooseOrganisation(me.organisations);
    if (id !== undefined) throw redirect({ to: '/o/$org', params: { org: String(id) } });
  },
  component: lazyRouteComponent(() => import('./shell/no-organisation.tsx'), 'NoOrganisation'),
});

/** Everything of one organisation, in the frame with the navigation. */
export const orgRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/o/$org',
  beforeLoad: ({ context: { queryClient } }) => queryClient.ensureQueryData(endpointQuery('GET /me')),
  component: lazyRouteComponent(() => import('./shell/shell.tsx'), 'Shell'),
  notFoundComponent: MissingPage,
});

const orgStartRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/',
  beforeLoad: ({ params: { org } }) => {
    throw redirect({ to: '/o/$org/workflows', params: { org } });
  },
});

const routeTree = rootRoute.addChildren([
  startRoute,
  ...accountRoutes(rootRoute),
  orgRoute.addChildren([
    orgStartRoute,
    ...workflowListRoutes(orgRoute),
    ...systemRoutes(orgRoute),
    ...settingsRoutes(orgRoute),
    ...keyRoutes(orgRoute),
    ...credentialRoutes(orgRoute),
    ...auditRoutes(orgRoute),
    ...editorRoutes(orgRoute),
    ...peopleRoutes(orgRoute),
    ...executionRoutes(orgRoute),
    ...approvalRoutes(orgRoute),
  ]),
]);

/** The routes of the page; what is loaded for one is kept in the query client. */
export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
