import type { EndpointName, Role } from '@millrace/admin-api';
import type { Locator, Page } from 'playwright-core';
import type { RoleWorld } from './role-world.ts';

/** An action on a page and the endpoint it calls: shown to those who may call it. */
export type Action = readonly [endpoint: EndpointName, at: Locator];

/** Actions that are visible together. */
export interface View {
  /** Opens the view from the previous one; absent: already open. Roles without access don't see it. */
  readonly way?: Locator;
  /** Visible once the whole view is, for roles with access. */
  readonly shows: Locator;
  /** A menu, closed by Escape before the next view. */
  readonly isMenu?: true;
  readonly actions: readonly Action[];
}

export interface Place {
  readonly path: string;
  /** The role required to open the page. */
  readonly needs: Role;
  readonly views: readonly View[];
}

/** All pages with their actions. */
export function placesOfRoles(page: Page, world: RoleWorld): readonly Place[] {
  return [...workflowPlaces(page, world), ...executionPlaces(page, world), ...administrationPlaces(page)];
}

/** Controls by their full name. */
function controlsOf(page: Page) {
  return {
    button: (name: string | RegExp) => page.getByRole('button', { name, exact: true }),
    item: (name: string | RegExp) => page.getByRole('menuitem', { name, exact: true }),
    /** The button that saves a section of the settings. */
    section: (name: string) => page.getByRole('region', { name }).getByRole('button', { name: 'Save' }),
  };
}

/** A page where everything is visible at once. */
function place(path: string, needs: Role, shows: Locator, ...actions: readonly Action[]): Place {
  return { path, needs, views: [{ shows, actions }] };
}

/** A view that stays open once its control was clicked. */
function opens(way: Locator, shows: Locator, ...actions: readonly Action[]): View {
  return { way, shows, actions };
}

function workflowPlaces(
  page: Page,
  { workflowId, pollingId, rememberingId, params }: RoleWorld,
): readonly Place[] {
  const { button, item } = controlsOf(page);
  return [
    {
      path: 'workflows',
      needs: 'viewer',
      views: [
        {
          shows: page.getByRole('link', { name: 'Orders' }),
          actions: [
            ['POST /orgs/:org/workflows', button('New workflow')],
            ['POST /orgs/:org/workflows/:id/run', button('Run Orders')],
            ['POST /orgs/:org/folders', button('New folder')],
            ['POST /orgs/:org/workflow-changes', page.getByRole('checkbox', { name: 'Select Orders' })],
          ],
        },
        opens(
          button('More for Orders'),
          item('Export as JSON'),
          ['GET /orgs/:org/workflows/:id/export', item('Export as JSON')],
          ['POST /orgs/:org/workflows/:id/import', item('Start from CSV…')],
          ['POST /orgs/:org/workflows/:id/duplicate', item('Duplicate')],
          ['POST /orgs/:org/workflows/:id/archive', item('Archive')],
        ),
      ],
    },
    place(
      `workflows?folder=${params.folder}`,
      'viewer',
      page.getByRole('combobox', { name: 'Folder' }),
      ['PATCH /orgs/:org/folders/:folder', button('More for this folder')],
      ['DELETE /orgs/:org/folders/:folder', button('More for this folder')],
    ),
    {
      path: 'workflows?status=archived',
      needs: 'viewer',
      views: [
        opens(
          button('More for Old orders'),
          item('Export as JSON'),
          ['POST /orgs/:org/workflows/:id/restore', item('Restore')],
          ['DELETE /orgs/:org/workflows/:id', item('Delete permanently')],
        ),
      ],
    },
    place('templates', 'viewer', page.getByRole('article').first(), [
      'POST /orgs/:org/workflows',
      button(/^Use /).first(),
    ]),
    {
      path: `workflows/${pollingId}`,
      needs: 'viewer',
      views: [
        { shows: page.getByTestId('canvas').getByText('News'), actions: [] },
        opens(page.getByTestId('canvas').getByText('News'), page.getByText('Next poll'), [
          'POST /orgs/:org/workflows/:id/polling',
          button('Poll now'),
        ]),
      ],
    },
    {
      path: `workflows/${rememberingId}`,
      needs: 'viewer',
      views: [
        { shows: page.getByTestId('canvas').getByText('Answerer'), actions: [] },
        opens(
          page.getByTestId('canvas').getByText('Answerer'),
          page.getByRole('region', { name: 'Remembered conversations' }),
          ['POST /orgs/:org/workflows/:id/memories/forget', button('Forget all')],
        ),
      ],
    },
    {
      path: `workflows/${workflowId}`,
      needs: 'viewer',
      views: [
        {
          shows: page.getByTestId('canvas').getByText('Order placed'),
          actions: [
            ['POST /orgs/:org/workflows/:id/versions', button('Save')],
            ['POST /orgs/:org/workflows/:id/run', button('Run')],
            ['PUT /orgs/:org/workflows/:id/draft', button('Add node')],
            ['PUT /orgs/:org/workflows/:id', page.getByRole('switch', { name: 'Test mode' })],
            ['PUT /orgs/:org/workflows/:id', button(/^Status: .* Change it$/)],
          ],
        },
        opens(
          page.getByTestId('canvas').getByText('Order placed'),
          page.getByRole('button', { name: 'Copy URL to call' }),
          ['POST /orgs/:org/workflows/:id/sample-listener', button('Listen for a sample')],
          ['POST /orgs/:org/workflows/:id/webhook/regenerate', button('New URL')],
        ),
        {
          way: button('More'),
          shows: item('Export as JSON'),
          isMenu: true,
          actions: [
            ['POST /orgs/:org/workflows/:id/duplicate', item('Duplicate')],
            ['DELETE /orgs/:org/workflows/:id/draft', item('Discard my changes')],
          ],
        },
        opens(page.getByRole('link', { name: /Version history$/ }), button(/^Version 1/), [
          'PUT /orgs/:org/workflows/:id/versions/:version/pin',
          button(/^Pin version 1\b/),
        ]),
        opens(button(/^Version 1/), page.getByRole('list', { name: 'Changes' }), [
          'POST /orgs/:org/workflows/:id/versions/:version/restore',
          button('Restore'),
        ]),
      ],
    },
  ];
}

function executionPlaces(page: Page, { failedId, waitingId }: RoleWorld): readonly Place[] {
  const { button } = controlsOf(page);
  return [
    place('executions', 'viewer', page.locator(`[data-execution="${failedId}"]`), [
      'POST /orgs/:org/executions/:execution/rerun',
      page.locator(`[data-execution="${failedId}"]`).getByRole('checkbox'),
    ]),
    place(
      `executions/${failedId}`,
      'viewer',
      page.getByRole('link', { name: /^Compare/ }),
      ['POST /orgs/:org/executions/:execution/rerun', button('Rerun')],
      ['PUT /orgs/:org/executions/:execution/pins', page.getByText('Open in the editor with this data')],
    ),
    place(
      `executions/${waitingId}`,
      'viewer',
      page.getByRole('region', { name: 'Waiting' }),
      ['POST /orgs/:org/executions/:execution/cancel', button('Cancel')],
      ['PUT /orgs/:org/executions/:execution/pins', page.getByText('Open in the editor with this data')],
      ['POST /orgs/:org/approvals/:approval/decision', button('Approve')],
    ),
    place('approvals', 'viewer', page.getByText('Refund it?'), [
      'POST /orgs/:org/approvals/:approval/decision',
      button('Approve'),
    ]),
  ];
}

function administrationPlaces(page: Page): readonly Place[] {
  const { button, item, section } = controlsOf(page);
  return [
    {
      path: 'credentials',
      needs: 'editor',
      views: [
        {
          shows: page.getByText('Shop token'),
          actions: [
            ['POST /orgs/:org/credentials', button('Add a credential')],
            ['PATCH /orgs/:org/credentials/:credential', button('Edit Shop token')],
            ['POST /orgs/:org/credentials/:credential/connection', button('Connect Shop account')],
          ],
        },
        opens(
          button('More for Shop token'),
          item('Where it is used'),
          ['POST /orgs/:org/credentials/:credential/test', item('Test')],
          ['PUT /orgs/:org/credentials/:credential/expiry', item('Expiry')],
          ['GET /orgs/:org/credentials/:credential/usage', item('Where it is used')],
          ['DELETE /orgs/:org/credentials/:credential', item('Delete')],
        ),
      ],
    },
    {
      path: 'ai-data',
      needs: 'viewer',
      views: [
        {
          shows: page.getByText('product guides'),
          actions: [['POST /orgs/:org/vector-collections/delete', button('Delete product guides')]],
        },
        opens(button('Show texts of product guides'), page.getByText('Reset the device'), [
          'POST /orgs/:org/vector-items/delete',
          button('Delete reset'),
        ]),
      ],
    },
    {
      path: 'keys',
      needs: 'org_admin',
      views: [
        {
          shows: page.getByRole('row', { name: /Locked/ }),
          actions: [['POST /orgs/:org/keys', button('Create a key')]],
        },
        opens(
          button('More for Import'),
          item('Revoke'),
          ['POST /orgs/:org/keys/:key/rotate', item('Rotate')],
          ['POST /orgs/:org/keys/:key/revoke', item('Revoke')],
          ['POST /orgs/:org/keys/:key/unlock', item('Unlock')],
        ),
      ],
    },
    {
      path: 'members',
      needs: 'org_admin',
      views: [
        {
          shows: page.getByText('viewer@example.com'),
          actions: [
            ['POST /orgs/:org/invitations', button('Invite')],
            [
              'PATCH /orgs/:org/members/:member',
              page.getByRole('combobox', { name: 'Role of viewer@example.com' }),
            ],
            ['DELETE /orgs/:org/members/:member', button('Remove viewer@example.com')],
          ],
        },
        opens(page.getByRole('tab', { name: 'Invitations' }), page.getByText('guest@example.com'), [
          'DELETE /orgs/:org/invitations/:invitation',
          button('Revoke the invitation for guest@example.com'),
        ]),
      ],
    },
    {
      path: 'alerts',
      needs: 'org_admin',
      views: [
        {
          shows: page.getByText('Failing imports'),
          actions: [
            ['POST /orgs/:org/alert-rules', button('Add a rule')],
            ['PATCH /orgs/:org/alert-rules/:rule', button('Edit Failing imports')],
          ],
        },
        opens(
          button('More for Failing imports'),
          item('Delete'),
          ['POST /orgs/:org/alert-rules/:rule/test', item('Send a test alert')],
          ['DELETE /orgs/:org/alert-rules/:rule', item('Delete')],
        ),
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
        opens(
          button('Export'),
          item('JSON Lines'),
          ['GET /orgs/:org/audit/csv', item('CSV, for spreadsheets')],
          ['GET /orgs/:org/audit/jsonl', item('JSON Lines')],
        ),
      ],
    },
    place(
      'settings',
      'org_admin',
      page.getByRole('region', { name: 'Retention' }),
      ['PATCH /orgs/:org', section('General')],
      ['PATCH /orgs/:org/settings', section('Retention')],
      ['POST /orgs/:org/connectors', button('Upload a file')],
      ['POST /orgs/:org/connectors/:connector/workflows', button('Update them')],
      ['DELETE /orgs/:org/connectors/:connector', button('Delete Support desk')],
    ),
    place('organisations', 'system_admin', button(/^Rename /).first(), [
      'POST /organisations',
      button('New organisation'),
    ]),
    place(
      'accounts',
      'system_admin',
      page.getByRole('textbox', { name: 'Search by name or e-mail address' }),
      ['DELETE /users/:user', button(/^Remove the account of /).first()],
    ),
    place('system', 'system_admin', page.getByRole('heading', { name: 'Health' })),
  ];
}
