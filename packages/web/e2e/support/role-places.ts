import type { EndpointName, Role } from '@millrace/admin-api';
import type { Locator, Page } from 'playwright-core';
import type { RoleWorld } from './role-world.ts';

/** Something that can be done on a page, and the endpoint that does it: who may call that sees it. */
export interface Action {
  readonly endpoint: EndpointName;
  readonly at: Locator;
}

/** Actions that are seen together. */
export interface View {
  /** Leads there from the view before; absent: it is there at once. Whoever has no way there sees nothing of it. */
  readonly way?: Locator;
  /** There when all of the view is, for whoever gets there. */
  readonly shows: Locator;
  /** Closed by Escape before the next view: a menu. */
  readonly isMenu?: true;
  readonly actions: readonly Action[];
}

export interface Place {
  readonly path: string;
  /** Who may see it at all. */
  readonly needs: Role;
  readonly views: readonly View[];
}

/** Every page, with what can be done there. */
export function placesOfRoles(page: Page, world: RoleWorld): readonly Place[] {
  return [...workflowPlaces(page, world), ...executionPlaces(page, world), ...administrationPlaces(page)];
}

function workflowPlaces(page: Page, { workflowId }: RoleWorld): readonly Place[] {
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const item = (name: string | RegExp) => page.getByRole('menuitem', { name, exact: true });
  return [
    {
      path: 'workflows',
      needs: 'viewer',
      views: [
        {
          shows: page.getByRole('link', { name: 'Orders' }),
          actions: [
            { endpoint: 'POST /orgs/:org/workflows', at: button('New workflow') },
            { endpoint: 'POST /orgs/:org/workflows/:id/run', at: button('Run Orders') },
          ],
        },
        {
          way: button('More for Orders'),
          shows: item('Export as JSON'),
          actions: [
            { endpoint: 'GET /orgs/:org/workflows/:id/export', at: item('Export as JSON') },
            { endpoint: 'POST /orgs/:org/workflows/:id/duplicate', at: item('Duplicate') },
            { endpoint: 'POST /orgs/:org/workflows/:id/archive', at: item('Archive') },
          ],
        },
      ],
    },
    {
      path: 'workflows?status=archived',
      needs: 'viewer',
      views: [
        {
          way: button('More for Old orders'),
          shows: item('Export as JSON'),
          actions: [
            { endpoint: 'POST /orgs/:org/workflows/:id/restore', at: item('Restore') },
            { endpoint: 'DELETE /orgs/:org/workflows/:id', at: item('Delete for good') },
          ],
        },
      ],
    },
    {
      path: 'templates',
      needs: 'viewer',
      views: [
        {
          shows: page.getByRole('article').first(),
          actions: [{ endpoint: 'POST /orgs/:org/workflows', at: button(/^Use /).first() }],
        },
      ],
    },
    {
      path: `workflows/${workflowId}`,
      needs: 'viewer',
      views: [
        {
          shows: page.getByTestId('canvas').getByText('Order placed'),
          actions: [
            { endpoint: 'POST /orgs/:org/workflows/:id/versions', at: button('Save') },
            { endpoint: 'POST /orgs/:org/workflows/:id/run', at: button('Run') },
            { endpoint: 'PUT /orgs/:org/workflows/:id/draft', at: button('Add node') },
            { endpoint: 'PUT /orgs/:org/workflows/:id', at: page.getByRole('switch', { name: 'Test mode' }) },
            { endpoint: 'PUT /orgs/:org/workflows/:id', at: button(/^Status: .* Change it$/) },
          ],
        },
        {
          way: page.getByTestId('canvas').getByText('Order placed'),
          shows: page.getByRole('button', { name: 'Copy Address to call' }),
          actions: [
            {
              endpoint: 'POST /orgs/:org/workflows/:id/sample-listener',
              at: button('Listen for a sample'),
            },
            { endpoint: 'POST /orgs/:org/workflows/:id/webhook/regenerate', at: button('New address') },
          ],
        },
        {
          way: button('More'),
          shows: item('Export as JSON'),
          isMenu: true,
          actions: [
            { endpoint: 'POST /orgs/:org/workflows/:id/duplicate', at: item('Duplicate') },
            { endpoint: 'DELETE /orgs/:org/workflows/:id/draft', at: item('Discard my changes') },
          ],
        },
        {
          way: button(/Version history$/),
          shows: button(/^Version 1/),
          actions: [
            {
              endpoint: 'PUT /orgs/:org/workflows/:id/versions/:version/pin',
              at: button(/^Pin version 1\b/),
            },
          ],
        },
        {
          way: button(/^Version 1/),
          shows: page.getByRole('list', { name: 'What has changed' }),
          actions: [
            { endpoint: 'POST /orgs/:org/workflows/:id/versions/:version/restore', at: button('Restore') },
          ],
        },
      ],
    },
  ];
}

function executionPlaces(page: Page, { failedId, waitingId }: RoleWorld): readonly Place[] {
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  return [
    {
      path: 'executions',
      needs: 'viewer',
      views: [
        {
          shows: page.locator(`[data-execution="${failedId}"]`),
          actions: [
            {
              endpoint: 'POST /orgs/:org/executions/:execution/rerun',
              at: page.locator(`[data-execution="${failedId}"]`).getByRole('checkbox'),
            },
          ],
        },
      ],
    },
    {
      path: `executions/${failedId}`,
      needs: 'viewer',
      views: [
        {
          shows: page.getByRole('link', { name: 'Compare' }),
          actions: [{ endpoint: 'POST /orgs/:org/executions/:execution/rerun', at: button('Rerun') }],
        },
      ],
    },
    {
      path: `executions/${waitingId}`,
      needs: 'viewer',
      views: [
        {
          shows: page.getByRole('link', { name: 'Compare' }),
          actions: [{ endpoint: 'POST /orgs/:org/executions/:execution/cancel', at: button('Cancel') }],
        },
      ],
    },
    {
      path: 'approvals',
      needs: 'viewer',
      views: [
        {
          shows: page.getByText('Refund it?'),
          actions: [{ endpoint: 'POST /orgs/:org/approvals/:approval/decision', at: button('Approve') }],
        },
      ],
    },
  ];
}

function administrationPlaces(page: Page): readonly Place[] {
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const item = (name: string) => page.getByRole('menuitem', { name, exact: true });
  const section = (name: string) => page.getByRole('region', { name }).getByRole('button', { name: 'Save' });
  return [
    {
      path: 'credentials',
      needs: 'editor',
      views: [
        {
          shows: page.getByText('Shop token'),
          actions: [
            { endpoint: 'POST /orgs/:org/credentials', at: button('Add a credential') },
            { endpoint: 'PATCH /orgs/:org/credentials/:credential', at: button('Change Shop token') },
          ],
        },
        {
          way: button('More for Shop token'),
          shows: item('Where it is used'),
          actions: [
            { endpoint: 'GET /orgs/:org/credentials/:credential/usage', at: item('Where it is used') },
            { endpoint: 'DELETE /orgs/:org/credentials/:credential', at: item('Remove') },
          ],
        },
      ],
    },
    {
      path: 'keys',
      needs: 'org_admin',
      views: [
        {
          shows: page.getByRole('row', { name: /Locked/ }),
          actions: [{ endpoint: 'POST /orgs/:org/keys', at: button('Issue a key') }],
        },
        {
          way: button('More for Import'),
          shows: item('Revoke'),
          actions: [
            { endpoint: 'POST /orgs/:org/keys/:key/rotate', at: item('Rotate') },
            { endpoint: 'POST /orgs/:org/keys/:key/revoke', at: item('Revoke') },
            { endpoint: 'POST /orgs/:org/keys/:key/unlock', at: item('Unlock') },
          ],
        },
      ],
    },
    {
      path: 'members',
      needs: 'org_admin',
      views: [
        {
          shows: page.getByText('viewer@example.com'),
          actions: [
            { endpoint: 'POST /orgs/:org/invitations', at: button('Invite') },
            {
              endpoint: 'PATCH /orgs/:org/members/:member',
              at: page.getByRole('combobox', { name: 'Role of viewer@example.com' }),
            },
            { endpoint: 'DELETE /orgs/:org/members/:member', at: button('Remove viewer@example.com') },
          ],
        },
        {
          way: page.getByRole('tab', { name: 'Invitations' }),
          shows: page.getByText('guest@example.com'),
          actions: [
            {
              endpoint: 'DELETE /orgs/:org/invitations/:invitation',
              at: button('Revoke the invitation for guest@example.com'),
            },
          ],
        },
      ],
    },
    {
      path: 'audit',
      needs: 'org_admin',
      views: [
        {
          shows: page.getByRole('heading', { name: 'Audit log', level: 1 }),
          actions: [],
        },
        {
          way: button('Export'),
          shows: item('JSON lines'),
          actions: [
            { endpoint: 'GET /orgs/:org/audit/csv', at: item('CSV, for spreadsheets') },
            { endpoint: 'GET /orgs/:org/audit/jsonl', at: item('JSON lines') },
          ],
        },
      ],
    },
    {
      path: 'settings',
      needs: 'org_admin',
      views: [
        {
          shows: page.getByRole('region', { name: 'Retention' }),
          actions: [
            { endpoint: 'PATCH /orgs/:org', at: section('General') },
            { endpoint: 'PATCH /orgs/:org/settings', at: section('Retention') },
          ],
        },
      ],
    },
    {
      path: 'organisations',
      needs: 'system_admin',
      views: [
        {
          shows: button(/^Rename /).first(),
          actions: [{ endpoint: 'POST /organisations', at: button('New organisation') }],
        },
      ],
    },
    {
      path: 'system',
      needs: 'system_admin',
      views: [{ shows: page.getByRole('heading', { name: 'Health' }), actions: [] }],
    },
  ];
}
