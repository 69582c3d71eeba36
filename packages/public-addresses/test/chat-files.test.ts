import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorkingService, type WorkingService } from '../../runtime/test/worker/service-with-worker.ts';
import { type ChatNode, createChatIn, endOf, newId, newSession, send, turnsOf } from './chat-calls.ts';

let service: WorkingService;
beforeAll(async () => {
  service = await startWorkingService({ limits: { requestsPerMinutePerWebhook: 0 } });
});
afterAll(() => service.stop());

const TAKES = { files_per_message: 2, files_accept: '.txt, image/*', files_mb: 1 };

async function sendFiles(
  url: string,
  session: string,
  files: readonly File[],
  message = 'Look',
  messageId = newId(),
): Promise<{ readonly status: number; readonly body: { readonly [name: string]: unknown } }> {
  const body = new FormData();
  body.append('message_id', messageId);
  body.append('message', message);
  for (const file of files) body.append('files', file);
  const headers = { 'x-chat-session': session };
  const response = await fetch(`${url}/messages/files`, { method: 'POST', headers, body });
  return { status: response.status, body: (await response.json()) as { [name: string]: unknown } };
}

const text = (name: string, content = 'Flour') => new File([content], name, { type: 'text/plain' });

const READ: ChatNode = {
  id: 'read',
  type: 'file.read',
  data: { config: { file: '{{trigger.data.files[0]}}', format: 'text' } },
};
const WRITE: ChatNode = {
  id: 'write',
  type: 'file.write',
  data: { config: { name: 'answer.txt', format: 'text', data: 'You sent: {{nodes.read.output.text}}' } },
};
const ANSWERS = {
  ...TAKES,
  answer: 'Read {{nodes.read.output.text}}',
  answer_files: '{{nodes.write.output.file}}',
};

async function storedFiles(): Promise<number> {
  const [row] = await service.database.db.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM files',
  );
  return row?.count ?? 0;
}

describe('files of a message', () => {
  test('reach the workflow, and those of its answer reach the session that asked, and nobody else', async () => {
    const { url } = await createChatIn(service, ANSWERS, [READ, WRITE]);
    const [session, other] = [newSession(), newSession()];
    const { status, body } = await sendFiles(url, session, [text('a.txt')]);
    expect([status, body.problem]).toEqual([202, undefined]);
    const { answer, files } = await endOf(url, session, body.number);
    expect(answer).toBe('Read Flour');
    const [file, ...rest] = files as { readonly id: string }[];
    expect(rest).toEqual([]);
    expect(file).toMatchObject({ name: 'answer.txt', size: 15 });
    expect(await turnsOf(url, session)).toMatchObject([
      { sent_files: [{ name: 'a.txt', size: 5 }], files: [{ id: file?.id, name: 'answer.txt' }] },
    ]);
    const read = (by: string, id = file?.id, turn = body.number) =>
      fetch(`${url}/turns/${String(turn)}/files/${id ?? ''}`, { headers: { 'x-chat-session': by } });
    const saved = await read(session);
    expect(await saved.text()).toBe('You sent: Flour');
    expect(saved.headers.get('content-disposition')).toContain('attachment');
    expect(saved.headers.get('content-security-policy')).toContain('sandbox');
    await send(url, other, 'mine');
    expect((await read(other)).status).toBe(404);
    expect((await read('')).status).toBe(400);
    // Not even what the visitor has sent: only what the answer gives.
    const [row] = await service.database.db.query<{ id: string }>(
      "SELECT id FROM files WHERE name = 'a.txt'",
    );
    expect((await read(session, row?.id)).status).toBe(404);
  });

  test.each([
    ['a type that is not accepted', [new File(['x'], 'a.exe')], 422],
    ['too many', [text('a.txt'), text('b.txt'), text('c.txt')], 422],
    ['too large', [text('a.txt', 'x'.repeat(1024 * 1024 + 1))], 413],
  ])('are refused and not stored: %s', async (_what, files, expected) => {
    const { url } = await createChatIn(service, TAKES);
    const before = await storedFiles();
    const { status, body } = await sendFiles(url, newSession(), files);
    expect([status, typeof body.problem]).toEqual([expected, 'string']);
    expect(await storedFiles()).toBe(before);
  });

  test('of a message that came before, or of a conversation that is full, are deleted at once', async () => {
    const { url } = await createChatIn(service, { ...TAKES, messages_per_session: 1 });
    const session = newSession();
    const id = newId();
    const sent = (messageId: string) => sendFiles(url, session, [text('a.txt')], 'Look', messageId);
    const first = await sent(id);
    const after = await storedFiles();
    expect(await sent(id)).toEqual(first);
    expect((await sent(newId())).status).toBe(409);
    expect(await storedFiles()).toBe(after);
  });

  test('are refused where the author takes none, without a session, and too often', async () => {
    const { url } = await createChatIn(service);
    expect((await sendFiles(url, newSession(), [text('a.txt')])).status).toBe(422);
    const taking = await createChatIn(service, { ...TAKES, messages_per_minute: 1 });
    expect((await sendFiles(taking.url, '', [text('a.txt')])).status).toBe(400);
    expect((await sendFiles(taking.url, newSession(), [text('a.txt')])).status).toBe(202);
    const before = await storedFiles();
    expect((await sendFiles(taking.url, newSession(), [text('a.txt')])).status).toBe(429);
    expect(await storedFiles()).toBe(before);
  });

  test('are an empty list without any, and made-up files are no files', async () => {
    const { id, url } = await createChatIn(service, TAKES);
    const session = newSession();
    const { body } = await send(url, session, 'Nothing');
    await endOf(url, session, body.number);
    const [row] = await service.database.db.query<{ input: string }>(
      'SELECT input::text AS input FROM executions WHERE workflow_id = $1',
      [id],
    );
    expect(JSON.parse(row?.input ?? '')).toMatchObject({ message: 'Nothing', files: [] });
    const answer_files = '{{trigger.data.message | parse_json}}';
    const made = await createChatIn(service, { ...TAKES, answer_files });
    const said = await send(made.url, session, '{"$file":"01890000-0000-7000-8000-000000000000"}');
    expect(await endOf(made.url, session, said.body.number)).toMatchObject({ files: [] });
  });
});
