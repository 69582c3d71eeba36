import { readConnectionSearch } from '@millrace/credential-pages/connection-search.ts';
import { readApprovalsSearch } from '@millrace/execution-pages/approvals/approvals-search.ts';
import {
  readCompareSearch,
  readDetailSearch,
  readListSearch as readExecutionsSearch,
} from '@millrace/execution-pages/common/search.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { CrashedPage, MissingPage } from '@millrace/ui/components/states.tsx';
import { readVersionSearch } from '@millrace/workflow-pages/editor/version-search.ts';
import { readGallerySearch } from '@millrace/workflow-pages/workflows/gallery-search.ts';
import { readListSearch } from '@millrace/workflow-pages/workflows/list-search.ts';
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { readSignInSearch } from './pages/account/sign-in-search.ts';
import { readAuditSearch } from './pages/audit/audit-search.ts';
import { readAccountsSearch, readMembersSearch } from './pages/people/people-search.ts';
import { chooseOrganisation } from './shell/last-organisation.ts';
import { Root } from './shell/root.tsx';

/** The context of all route loaders. */
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
  validateSearch: readConnectionSearch,
  beforeLoad: async ({ context: { queryClient }, search }) => {
    const state = await queryClient.fetchQuery(endpointQuery('GET /state'));
    if (state.needs_setup) throw redirect({ to: '/setup' });
    const me = await queryClient.fetchQuery(endpointQuery('GET /me'));
    const id = chooseOrganisation(me.organisations);
    if (id === undefined) return;
    const params = { org: String(id) };
    // Whoever comes back from a service too late: nobody knows any more which credential it was.
    if (search.connection !== undefined) throw redirect({ to: '/o/$org/credentials', params, search });
    throw redirect({ to: '/o/$org', params });
  },
  component: lazyRouteComponent(() => import('./shell/no-organisation.tsx'), 'NoOrganisation'),
});

/** All pages of one organisation, in the frame with the navigation. */
const orgRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/o/$org',
  beforeLoad: ({ context: { queryClient } }) => queryClient.ensureQueryData(endpointQuery('GET /me')),
  component: lazyRouteComponent(() => import('./shell/shell.tsx'), 'Shell'),
  notFoundComponent: MissingPage,
});

const inOrg = { getParentRoute: () => orgRoute };

const workflowRoute = createRoute({
  ...inOrg,
  path: 'workflows/$id',
  validateSearch: readVersionSearch,
  component: lazyRouteComponent(
    () => import('@millrace/workflow-pages/editor/editor-page.tsx'),
    'EditorPage',
  ),
});

const orgRoutes = [
  createRoute({
    ...inOrg,
    path: '/',
    beforeLoad: ({ params: { org } }) => {
      throw redirect({ to: '/o/$org/workflows', params: { org } });
    },
  }),
  createRoute({
    ...inOrg,
    path: 'workflows',
    validateSearch: readListSearch,
    component: lazyRouteComponent(
      () => import('@millrace/workflow-pages/workflows/workflows-page.tsx'),
      'WorkflowsPage',
    ),
  }),
  createRoute({
    ...inOrg,
    path: 'templates',
    validateSearch: readGallerySearch,
    component: lazyRouteComponent(
      () => import('@millrace/workflow-pages/workflows/templates-page.tsx'),
      'TemplatesPage',
    ),
  }),
  workflowRoute.addChildren(
    // The workflow's page shows the tab in the address: what is on the canvas stays when another one is opened.
    ['/', 'executions', 'versions', 'settings'].map((path) =>
      createRoute({ getParentRoute: () => workflowRoute, path }),
    ),
  ),
  createRoute({
    ...inOrg,
    path: 'executions',
    validateSearch: readExecutionsSearch,
    component: lazyRouteComponent(
      () => import('@millrace/execution-pages/list/executions-page.tsx'),
      'ExecutionsPage',
    ),
  }),
  createRoute({
    ...inOrg,
    path: 'executions/compare',
    validateSearch: readCompareSearch,
    component: lazyRouteComponent(
      () => import('@millrace/execution-pages/comparison/compare-page.tsx'),
      'ComparePage',
    ),
  }),
  createRoute({
    ...inOrg,
    path: 'executions/$execution',
    validateSearch: readDetailSearch,
    component: lazyRouteComponent(
      () => import('@millrace/execution-pages/detail/execution-page.tsx'),
      'ExecutionPage',
    ),
  }),
  createRoute({
    ...inOrg,
    path: 'approvals',
    validateSearch: readApprovalsSearch,
    component: lazyRouteComponent(
      () => import('@millrace/execution-pages/approvals/approvals-page.tsx'),
      'ApprovalsPage',
    ),
  }),
  createRoute({
    ...inOrg,
    path: 'credentials',
    validateSearch: readConnectionSearch,
    component: lazyRouteComponent(
      () => import('@millrace/credential-pages/credentials-page.tsx'),
      'CredentialsPage',
    ),
  }),
  createRoute({
    ...inOrg,
    path: 'ai-data',
    component: lazyRouteComponent(() => import('./pages/ai-data/ai-data-page.tsx'), 'AiDataPage'),
  }),
  createRoute({
    ...inOrg,
    path: 'keys',
    component: lazyRouteComponent(() => import('./pages/keys/keys-page.tsx'), 'KeysPage'),
  }),
  createRoute({
    ...inOrg,
    path: 'members',
    validateSearch: readMembersSearch,
    component: lazyRouteComponent(() => import('./pages/people/members-page.tsx'), 'MembersPage'),
  }),
  createRoute({
    ...inOrg,
    path: 'alerts',
    component: lazyRouteComponent(() => import('./pages/alerts/alerts-page.tsx'), 'AlertsPage'),
  }),
  createRoute({
    ...inOrg,
    path: 'audit',
    validateSearch: readAuditSearch,
    component: lazyRouteComponent(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    ...inOrg,
    path: 'settings',
    component: lazyRouteComponent(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    ...inOrg,
    path: 'organisations',
    component: lazyRouteComponent(() => import('./pages/people/organisations-page.tsx'), 'OrganisationsPage'),
  }),
  createRoute({
    ...inOrg,
    path: 'accounts',
    validateSearch: readAccountsSearch,
    component: lazyRouteComponent(() => import('./pages/people/accounts-page.tsx'), 'AccountsPage'),
  }),
  createRoute({
    ...inOrg,
    path: 'system',
    component: lazyRouteComponent(() => import('./pages/system/system-page.tsx'), 'SystemPage'),
  }),
] as const;

const outside = { getParentRoute: () => rootRoute };

/** Sign-in pages and the user's own account. */
const accountRoutes = [
  createRoute({
    ...outside,
    path: '/sign-in',
    validateSearch: readSignInSearch,
    component: lazyRouteComponent(() => import('./pages/account/sign-in.tsx'), 'SignInPage'),
  }),
  createRoute({
    ...outside,
    path: '/setup',
    component: lazyRouteComponent(() => import('./pages/account/setup.tsx'), 'SetupPage'),
  }),
  createRoute({
    ...outside,
    path: '/invitation',
    component: lazyRouteComponent(() => import('./pages/account/invitation.tsx'), 'InvitationPage'),
  }),
  createRoute({
    ...outside,
    path: '/account',
    component: lazyRouteComponent(() => import('./pages/account/account.tsx'), 'AccountPage'),
  }),
] as const;

const routeTree = rootRoute.addChildren([startRoute, ...accountRoutes, orgRoute.addChildren(orgRoutes)]);

/** The routes of the page; loaders cache their data in the query client. */
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
