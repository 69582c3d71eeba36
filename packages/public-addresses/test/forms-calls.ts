import type { JsonObject } from '@millrace/engine';
import type { ExecutionBody, WorkingService } from '../../runtime/test/worker/service-with-worker.ts';

export const CONTACT = {
  title: 'Contact <us>',
  fields: [
    { label: 'E-mail', name: 'email', type: 'email', required: true },
    { label: 'Message', name: 'message', type: 'paragraph', required: true, help: 'As "long" as you like' },
    { label: 'Sacks', name: 'sacks', type: 'number' },
    { label: 'Topic', name: 'topic', type: 'choice', choices: ['Order', 'Other & more'] },
  ],
  submissions_per_minute: 0,
};

/** Saves a workflow that starts with a form, and returns its id and the address of the form. */
export async function createFormIn(
  service: WorkingService,
  config: JsonObject = CONTACT,
  status = 'active',
): Promise<{ readonly id: number; readonly url: string }> {
  const id = await service.createWorkflow(
    { nodes: [{ id: 'form', type: 'trigger.form', data: { config } }], edges: [] },
    { status },
  );
  return { id, url: await urlIn(service, id) };
}

export async function urlIn(service: WorkingService, id: number): Promise<string> {
  const [row] = await service.database.db.query<{ hash: string }>(
    'SELECT webhook_hash AS hash FROM workflows WHERE id = $1',
    [id],
  );
  return `${service.url}/api/v1/forms/${row?.hash ?? ''}`;
}

export interface Page {
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
}

export async function read(url: string, headers: { readonly [name: string]: string } = {}): Promise<Page> {
  const response = await fetch(url, { headers, redirect: 'manual' });
  return { status: response.status, html: await response.text(), headers: response.headers };
}

/** What somebody enters, by the names of the fields. */
export type Fields = { readonly [name: string]: string | readonly string[] };

export async function submit(url: string, fields: Fields | FormData, page?: Page): Promise<Page> {
  const body =
    fields instanceof FormData
      ? fields
      : new URLSearchParams(
          Object.entries(fields).flatMap(([name, value]) =>
            [value].flat().map((each): [string, string] => [name, each]),
          ),
        );
  if (page !== undefined) for (const [name, value] of hiddenIn(page)) body.append(name, value);
  const response = await fetch(url, { method: 'POST', body, redirect: 'manual' });
  return { status: response.status, html: await response.text(), headers: response.headers };
}

const ENTITIES: { readonly [entity: string]: string } = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const plain = (html: string) => html.replaceAll(/&([^;]+);/g, (_all, name: string) => ENTITIES[name] ?? '?');

/** What the page sends without being seen. */
export function hiddenIn({ html }: Page): readonly (readonly [string, string])[] {
  return [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(
    ([, name = '', value = '']) => [plain(name), plain(value)] as const,
  );
}

export async function executionsIn(service: WorkingService, workflowId: number): Promise<ExecutionBody[]> {
  const rows = await service.database.db.query<{ id: number }>(
    'SELECT id FROM executions WHERE workflow_id = $1 ORDER BY id',
    [workflowId],
  );
  return Promise.all(rows.map(({ id }) => service.finished(id)));
}
