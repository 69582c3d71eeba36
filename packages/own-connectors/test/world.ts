import { readFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@millrace/engine';

const GUIDE = fileURLToPath(new URL('../../../docs/own-connectors.md', import.meta.url));

/** The file that the documentation shows, for a service at this address. */
export async function exampleFile(url = 'https://helpdesk.example.com'): Promise<JsonObject> {
  const file = JSON.parse(await exampleText()) as JsonObject;
  return { ...file, base_url: `${url}/api`, hosts: [new URL(url).hostname] };
}

/** As the documentation shows it. */
export async function exampleText(): Promise<string> {
  const guide = await readFile(GUIDE, 'utf8');
  const text = /```json\n([\s\S]*?)\n```/.exec(guide)?.[1];
  if (text === undefined) throw new Error('the guide has no file');
  return text;
}

/** A request that the service received. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A service with the tickets of one queue. */
export class Helpdesk {
  readonly received: Received[] = [];
  readonly tickets: { id: number; subject: string }[] = [];
  /** Asks for no credential. */
  isOpen = false;
  /** Waited for before a ticket is created. */
  gate: Promise<void> = Promise.resolve();

  readonly listener: RequestListener = (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.once(
      'end',
      () =>
        void this.#answer(request, Buffer.concat(pieces).toString()).then((answer) => {
          response.writeHead(answer.status, { 'content-type': 'application/json' });
          response.end(JSON.stringify(answer.body));
        }),
    );
  };

  async #answer(request: IncomingMessage, body: string): Promise<{ status: number; body: unknown }> {
    const { url: path = '', headers, method } = request;
    this.received.push({ path, headers, body });
    if (!this.isOpen && headers.authorization !== 'Bearer a-secret-token')
      return { status: 401, body: { error: 'who are you' } };
    if (method === 'GET') return { status: 200, body: { tickets: this.tickets, next: null, limit: 100 } };
    await this.gate;
    const { subject } = JSON.parse(body) as { subject: string };
    const id = this.tickets.length + 1;
    this.tickets.push({ id, subject });
    return {
      status: 201,
      body: { id, url: `https://helpdesk.example.com/${id}`, echo: headers.authorization },
    };
  }
}

/** start -> a node of this type. */
export function flowOf(type: string, config: JsonObject): JsonObject {
  return {
    nodes: [
      { id: 'start', type: 'trigger.manual', data: {} },
      { id: 'own', type, data: { config } },
    ],
    edges: [{ source: 'start', target: 'own' }],
  };
}
