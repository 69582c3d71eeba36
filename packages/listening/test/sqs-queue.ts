import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Message {
  readonly id: string;
  readonly body: string;
  receives: number;
  isVisible: boolean;
}

/** A queue with the interface of Amazon SQS (JSON protocol), as far as a receiver needs it. */
export class SqsQueue {
  readonly messages: Message[] = [];
  readonly authorizations: string[] = [];
  readonly actions: string[] = [];
  /** Called before an action is answered; what it returns is awaited. */
  before: (action: string) => Promise<void> | void = () => undefined;
  refusal: { readonly status: number; readonly type: string } | null = null;
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#answer(request).then(({ status, body }) => {
        response
          .writeHead(status, { 'content-type': 'application/x-amz-json-1.0' })
          .end(JSON.stringify(body));
      });
    });
  }

  static async start(): Promise<SqsQueue> {
    const made = new SqsQueue();
    await new Promise<void>((resolve) => made.#server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/123456789012/orders`;
  }

  /** Requests that wait for messages. */
  get receivers(): number {
    return this.#waiting.size;
  }

  send(...bodies: string[]): void {
    for (const body of bodies) {
      this.messages.push({ id: `m-${body}`, body, receives: 0, isVisible: true });
    }
    this.#wake();
  }

  /** As if the visibility timeout had passed. */
  redeliver(): void {
    for (const message of this.messages) message.isVisible = true;
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#wake();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  async #answer(request: IncomingMessage): Promise<{ readonly status: number; readonly body: object }> {
    let text = '';
    for await (const piece of request) text += String(piece);
    const action = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    this.authorizations.push(request.headers.authorization ?? '');
    this.actions.push(action);
    await this.before(action);
    if (this.refusal !== null) {
      return { status: this.refusal.status, body: { __type: this.refusal.type, message: 'refused' } };
    }
    switch (action) {
      case 'ReceiveMessage':
        return { status: 200, body: await this.#receive(request) };
      case 'DeleteMessageBatch':
        return { status: 200, body: this.#delete(JSON.parse(text)) };
      case 'ChangeMessageVisibilityBatch':
        this.redeliver();
        return { status: 200, body: {} };
      default:
        return { status: 200, body: {} };
    }
  }

  async #receive(request: IncomingMessage): Promise<object> {
    while (!this.messages.some(({ isVisible }) => isVisible) && !request.socket.destroyed) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      request.socket.once('close', resolve);
      await promise;
      this.#waiting.delete(resolve);
    }
    if (request.socket.destroyed) return {};
    const taken = this.messages.filter(({ isVisible }) => isVisible).slice(0, 10);
    for (const message of taken) {
      message.isVisible = false;
      message.receives += 1;
    }
    return {
      Messages: taken.map(({ id, body, receives }) => ({
        ...{ MessageId: id, ReceiptHandle: `${id}/${receives}`, Body: body },
        Attributes: { SentTimestamp: '1767344400000', ApproximateReceiveCount: String(receives) },
        MessageAttributes: { kind: { DataType: 'String', StringValue: 'order' } },
      })),
    };
  }

  #delete({ Entries }: { readonly Entries: readonly { readonly ReceiptHandle: string }[] }): object {
    for (const { ReceiptHandle } of Entries) {
      const at = this.messages.findIndex(({ id, receives }) => ReceiptHandle === `${id}/${receives}`);
      if (at >= 0) this.messages.splice(at, 1);
    }
    return { Successful: [], Failed: [] };
  }
}
