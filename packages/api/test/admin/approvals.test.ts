import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { flowOf } from '../../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';

const LIST = 'GET /orgs/:org/approvals';
const DECIDE = 'POST /orgs/:org/approvals/:approval/decision';

let service: WorkingService;
let organisationId: number;
let editor: TestPerson;
let viewer: TestPerson;
beforeAll(async () => {
  service = await startWorkingService();
  organisationId = service.key.organisationId;
  editor = await createPerson(service as never, 'editor', { organisationId });
  viewer = await createPerson(service as never, 'viewer', { organisationId });
});
afterAll(() => service.stop());

/** Starts an execution that requests an approval; returns its id and that of the approval. */
async function asking(
  more: object = {},
): Promise<{ readonly executionId: number; readonly approval: number }> {
  const config = { title: 'Refund order {{trigger.data.id}}?', text: 'Arrived broken', ...more };
  const flow = flowOf([['ask', 'wait.approval', { config }]], ['start>ask']);
  const executionId = await service.execute(await service.createWorkflow(flow), { id: 17 });
  const approval = await expect
    .poll(async () => (await pending()).find((each) => each.execution_id === executionId))
    .toBeDefined()
    .then(async () => (await pending()).find((each) => each.execution_id === executionId));
  return { executionId, approval: approval?.id ?? 0 };
}

async function pending(person = viewer, state: 'pending' | 'decided' = 'pending') {
  const { data } = await person.call(LIST, { params: { org: person.organisationId }, query: { state } });
  return data.items;
}

const at = (approval: number) => ({ params: { org: organisationId, approval } });

test('a decision continues the execution and records who, when and why', async () => {
  const { executionId, approval } = await asking();
  const [shown] = (await pending()).filter(({ id }) => id === approval);
  expect(shown).toMatchObject({
    title: 'Refund order 17?',
    message: 'Arrived broken',
    choices: [
      { id: 'approve', label: 'Approve' },
      { id: 'reject', label: 'Reject' },
    ],
    decision: null,
  });
  const body = { choice: 'approve', comment: ' It is broken \u0000 indeed ' };
  expect((await editor.call(DECIDE, { ...at(approval), body })).status).toBe(422);
  const decided = await editor.call(DECIDE, { ...at(approval), body: { ...body, comment: ' broken ' } });
  expect(decided.status, decided.text).toBe(204);
  const execution = await service.finished(executionId);
  expect(execution.node_outputs.ask?.output).toMatchObject({
    decision: 'approve',
    comment: 'broken',
    decided_by: { via: 'member', member_id: editor.memberId, email: editor.email },
  });
  expect((await pending()).map(({ id }) => id)).not.toContain(approval);
  const [done] = (await pending(viewer, 'decided')).filter(({ id }) => id === approval);
  expect(done?.decision).toMatchObject({
    choice: 'approve',
    comment: 'broken',
    via: 'member',
    decided_by: editor.email,
  });
  // It is shown with its execution as well.
  const { data: detail } = await viewer.call('GET /orgs/:org/executions/:execution', {
    params: { org: organisationId, execution: executionId },
  });
  expect(detail.decisions).toEqual([done]);
  const entries = await service.database.db.query<{ details: string; user_id: number }>(
    "SELECT details, user_id FROM audit_log WHERE action = 'execution.approval_decided'",
  );
  expect(entries.map(({ details, user_id }) => ({ ...JSON.parse(details), user_id }))).toEqual([
    {
      execution_id: executionId,
      node_id: 'ask',
      approval_id: approval,
      decision: 'approve',
      user_id: editor.userId,
    },
  ]);
});

test('fields are filled in with the decision', async () => {
  const fields = [
    { label: 'Amount', name: 'amount', type: 'number', required: true },
    { label: 'Ways', name: 'ways', type: 'choices', choices: ['Bank', 'Cash'] },
    { label: 'Urgent', name: 'a/b', type: 'checkbox', required: true },
  ];
  const { executionId, approval } = await asking({ fields });
  const [shown] = (await pending()).filter(({ id }) => id === approval);
  expect(shown?.fields).toMatchObject(fields);
  const body = { choice: 'approve', values: { amount: 'much', ways: ['Bank'] } };
  const refused = await editor.call(DECIDE, { ...at(approval), body });
  expect(refused).toMatchObject({
    status: 422,
    json: { errors: [{ pointer: '/values/amount' }, { pointer: '/values/a~1b' }] },
  });
  const values = { amount: '12', ways: ['Bank'], 'a/b': true, other: 'x' };
  const decided = await editor.call(DECIDE, { ...at(approval), body: { ...body, values } });
  expect(decided.status, decided.text).toBe(204);
  const stored = { amount: 12, ways: ['Bank'], 'a/b': true };
  const execution = await service.finished(executionId);
  expect(execution.node_outputs.ask?.output).toMatchObject({ decision: 'approve', values: stored });
  const [after] = (await pending(viewer, 'decided')).filter(({ id }) => id === approval);
  expect(after?.decision?.values).toEqual(stored);
});

test("a system administrator who isn't a member can decide", async () => {
  const { executionId, approval } = await asking();
  const admin = await createPerson(service as never, 'system_admin');
  expect((await admin.call(DECIDE, { ...at(approval), body: { choice: 'reject' } })).status).toBe(204);
  const { node_outputs: outputs } = await service.finished(executionId);
  expect(outputs.ask?.output.decided_by).toMatchObject({
    via: 'member',
    member_id: null,
    email: admin.email,
  });
});

describe('a decision is refused', () => {
  test('to viewers', async () => {
    const { approval } = await asking();
    const answer = await viewer.call(DECIDE, { ...at(approval), body: { choice: 'approve' } });
    expect([answer.status, answer.json.code]).toEqual([403, 'insufficient_role']);
  });

  test("to other organisations, which don't see it either", async () => {
    const { approval } = await asking();
    const stranger = await createPerson(service as never, 'org_admin');
    const params = { org: stranger.organisationId, approval };
    expect((await stranger.call(DECIDE, { params, body: { choice: 'approve' } })).status).toBe(404);
    expect(await pending(stranger)).toEqual([]);
  });

  test('if there is one already, for an unknown choice, and after the execution has ended', async () => {
    const { approval } = await asking();
    const wrong = await editor.call(DECIDE, { ...at(approval), body: { choice: 'maybe' } });
    expect(wrong.json.errors.map(({ code }) => code)).toEqual(['no_such_choice']);
    await editor.call(DECIDE, { ...at(approval), body: { choice: 'approve' } });
    const twice = await editor.call(DECIDE, { ...at(approval), body: { choice: 'reject' } });
    expect([twice.status, twice.json.code]).toEqual([409, 'callback_used']);
    const other = await asking();
    await editor.call('POST /orgs/:org/executions/:execution/cancel', {
      params: { org: organisationId, execution: other.executionId },
    });
    const late = await editor.call(DECIDE, { ...at(other.approval), body: { choice: 'approve' } });
    expect([late.status, late.json.code]).toEqual([409, 'execution_ended']);
  });
});
