import type { TestPerson } from '@millrace/testing/admin';
import { send } from '@millrace/testing/api';
import { UNFINISHED_FLOW } from '@millrace/testing/flows';
import type { TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorkflow, startWithStranger } from './workflows-world.ts';

let service: TestService;
let editor: TestPerson;
let viewer: TestPerson;
let stranger: TestPerson;
beforeAll(async () => {
  ({ service, editor, viewer, stranger } = await startWithStranger());
});
afterAll(() => service.stop());

const WRITES = [
  ['POST /orgs/:org/workflows', { name: 'x' }],
  ['PUT /orgs/:org/workflows/:id', { updated_at: '2026-01-01T00:00:00Z', name: 'x' }],
  ['POST /orgs/:org/workflows/:id/duplicate', { name: 'x' }],
  ['POST /orgs/:org/workflows/:id/archive', undefined],
  ['POST /orgs/:org/workflows/:id/restore', undefined],
  ['DELETE /orgs/:org/workflows/:id', { name: 'x' }],
  ['POST /orgs/:org/workflows/:id/webhook/regenerate', {}],
  ['GET /orgs/:org/workflows/:id/draft', undefined],
  ['PUT /orgs/:org/workflows/:id/draft', { flow_data: {}, base_version: 1, revision: 0 }],
  ['DELETE /orgs/:org/workflows/:id/draft', undefined],
  ['POST /orgs/:org/workflows/:id/versions', { flow_data: UNFINISHED_FLOW, base_version: 1 }],
  ['POST /orgs/:org/workflows/:id/versions/1/restore', { base_version: 1 }],
  ['PUT /orgs/:org/workflows/:id/versions/1/pin', { pinned: true }],
  ['POST /orgs/:org/workflows/:id/run', {}],
  ['PUT /orgs/:org/workflows/:id/sample', { data: 1 }],
  ['POST /orgs/:org/workflows/:id/sample-listener', undefined],
  ['DELETE /orgs/:org/workflows/:id/sample-listener', undefined],
  ['GET /orgs/:org/workflows/:id/sample-listener/events?after=0', undefined],
] as const;
const READS = ['', '/webhook', '/export', '/versions', '/versions/1', '/inputs', '/sample'].map(
  (tail) => [`GET /orgs/:org/workflows/:id${tail}`, undefined] as const,
);

async function tryOut(person: TestPerson, organisationId: number, id: number, name: string, body: unknown) {
  const [method = '', path = ''] = name.split(' ');
  const url = path.replace(':org', String(organisationId)).replace(':id', String(id));
  return send(`${service.url}/api/admin${url}`, method as 'GET', {
    headers: { cookie: person.cookie, 'sec-fetch-site': 'same-origin' },
    ...(body === undefined ? {} : { body }),
  });
}

test.each(WRITES)('a viewer is refused: %s', async (name, body) => {
  const { id } = await createWorkflow(editor);
  const { status, json } = await tryOut(viewer, editor.organisationId, id, name, body);
  expect([status, json.code]).toEqual([403, 'insufficient_role']);
});

test.each([...WRITES.slice(1), ...READS])(
  "another organisation's workflow is unreachable: %s",
  async (name, body) => {
    const { id } = await createWorkflow(editor);
    const asMember = await tryOut(stranger, editor.organisationId, id, name, body);
    expect([asMember.status, asMember.json.key]).toEqual([404, 'api.organisation_not_found']);
    const inTheirs = await tryOut(stranger, stranger.organisationId, id, name, body);
    expect([inTheirs.status, inTheirs.json.code]).toEqual([404, 'not_found']);
  },
);
