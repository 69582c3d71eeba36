import { createPerson } from '@millrace/testing/admin';
import { expect, test } from 'vitest';
import { usePolling } from '../../polling/test/world.ts';
import { exampleFile } from './world.ts';

const world = usePolling();
const { url, create, change, poll, started } = world;

test('a trigger of an own connector starts each new item once, also after the file was replaced', async () => {
  const person = await createPerson(world.service, 'org_admin');
  const params = { org: person.organisationId };
  world.key = await world.service.createKey({ organisationId: person.organisationId });
  const fields = { token: 'a-secret-token' };
  const body = { name: 'Helpdesk', type: 'bearer', hosts: ['127.0.0.1'], fields };
  const credential = await person.call('POST /orgs/:org/credentials', { params, body });
  const upload = async (title: string) => {
    const file = { ...(await exampleFile(url('').replace(/\/$/, ''))), title, ja: {} };
    return person.call('POST /orgs/:org/connectors', { params, body: { file: JSON.stringify(file) } });
  };
  expect((await upload('Helpdesk')).status).toBe(200);
  const tickets = [{ id: 1, subject: 'old' }];
  world.source = () => ({ body: { tickets } });
  const id = await create(
    { credential_id: credential.data.id, queue: 'billing' },
    'trigger.own.helpdesk.new_ticket',
  );
  await poll(id);
  expect(await started(id)).toEqual([]);
  expect(world.requests[0]).toMatch(/^\/api\/queues\/billing\/tickets\?since=2/);
  expect(world.authorizations[0]).toBe('Bearer a-secret-token');
  tickets.push({ id: 2, subject: 'see a-secret-token' });
  await poll(id);
  expect(await started(id)).toEqual([{ id: 2, subject: 'see ***' }]);
  // A process that has compiled nothing polls with the revision of the saved version, and the workflow's position stays.
  expect((await upload('Support')).data.revision).toBe(2);
  const renewed = await person.call('POST /orgs/:org/connectors/:connector/workflows', {
    body: { after: 0 },
    params: { ...params, connector: 'helpdesk' },
  });
  expect(renewed.data).toEqual({ saved: 1, refused: [], next: null });
  tickets.push({ id: 3, subject: 'new' });
  await poll(id);
  expect(await started(id)).toHaveLength(2);
  await change(id, { status: 'inactive' });
  const [row] = await world.service.database.db.query<{ next_poll_at: Date | null }>(
    'SELECT next_poll_at FROM polls WHERE workflow_id = $1',
    [id],
  );
  expect(row?.next_poll_at).toBeNull();
});
