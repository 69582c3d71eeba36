import { Agent, type IncomingMessage, request } from 'node:http';

/** The response to a request, with its body read in full. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sends requests over keep-alive connections. */
export class KeepAliveClient {
  readonly #agent = new Agent({ keepAlive: true });

  send(
    method: 'GET' | 'POST',
    url: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { method, headers, agent: this.#agent }, (incoming) => {
        readBody(incoming).then(
          (text) => resolve({ status: incoming.statusCode ?? 0, body: text }),
          (error: unknown) => reject(error instanceof Error ? error : new Error(String(error))),
        );
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
