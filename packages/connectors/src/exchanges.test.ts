import {
  type Credential,
  type FileValue,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from '@millrace/engine';
import { pollNode, runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import type { Connector, ConnectorTrigger, Exchange, Operation, PollExchange } from './format.ts';
import { nodeOf } from './node-type.ts';
import { services } from './services.ts';
import { useTestService } from './test-exchanges.ts';
import { triggerNodeOf } from './trigger-type.ts';

const service = useTestService();
const TOKEN = '123456:canary-token-0123456789';

function credentialOf({ authentication: { chat } }: Connector): Credential {
  return chat === undefined
    ? { type: 'bearer', token: TOKEN }
    : { type: 'chat', service: chat.service, webhook_url: null, token: TOKEN, base_url: null };
}

/** Where the token is, unless it stands in the path. */
function signatureOf({ authentication: { chat } }: Connector): { readonly [name: string]: string } {
  return chat === undefined ? { authorization: `Bearer ${TOKEN}` } : {};
}

/** Keeps what an operation stores as a file, and gives files to those that send one. */
function memoryFiles() {
  const stored: { name: string; type: string; text: string }[] = [];
  return {
    stored,
    files: {
      async save(file: { readonly name: string; readonly type: string }, content: AsyncIterable<Uint8Array>) {
        let text = '';
        for await (const piece of content) text += Buffer.from(piece).toString('utf8');
        stored.push({ ...file, text });
        const value: FileValue = { $file: 'file-1', ...file, size: text.length, sha256: '' };
        return value;
      },
      async open(value: JsonValue) {
        const { name, type } = value as { name: string; type: string };
        return {
          name,
          type,
          size: 5,
          sha256: null,
          read: async function* () {
            yield Buffer.from('Hello');
          },
        };
      },
    },
  };
}

describe.each(services)('$title', (connector) => {
  const exchanges = connector.operations.flatMap((operation) =>
    operation.exchanges.map((exchange): [string, Operation, Exchange] => [
      `${operation.id}: ${exchange.title}`,
      operation,
      exchange,
    ]),
  );

  it.each(exchanges)('%s', async (_, operation, { config, steps, output, failure }) => {
    service.answers(steps.map(({ response }) => response));
    const { files } = memoryFiles();
    const { result } = await runNode(nodeOf(connector, operation), {
      config: { credential_id: 1, ...config },
      credential: credentialOf(connector),
      http: (request) => service.client.send(request, new AbortController().signal),
      services: { files: files as never },
    });
    const expected = steps.map(({ request }) => request);
    expect(service.received.map(({ method, path, body }) => shownRequest(method, path, body))).toEqual(
      expected.map(({ method, path, body }) => shownRequest(method, path, body)),
    );
    for (const [index, { headers = {} }] of expected.entries()) {
      expect(service.received[index]?.headers).toMatchObject({
        ...headers,
        ...signatureOf(connector),
      });
    }
    if (failure === undefined) {
      expect(result).toMatchObject({ kind: 'success' });
      expect((result as { output: JsonObject }).output).toEqual(output);
    } else {
      expect(result).toMatchObject({ kind: 'failure', code: failure });
    }
    expect(stringifyJson(result as unknown as JsonValue)).not.toContain(TOKEN);
  });
});

const watched = services.filter(({ triggers = [] }) => triggers.length > 0);

describe.each(watched)('polls $title', (connector) => {
  const exchanges = (connector.triggers ?? []).flatMap((trigger) =>
    trigger.exchanges.map((exchange): [string, ConnectorTrigger, PollExchange] => [
      `${trigger.id}: ${exchange.title}`,
      trigger,
      exchange,
    ]),
  );

  it.each(exchanges)('%s', async (_, trigger, { config, now, position, steps, items, next, failure }) => {
    service.answers(steps.map(({ response }) => response));
    const { result } = await pollNode(triggerNodeOf(connector, trigger), {
      config: { credential_id: 1, ...config },
      credential: credentialOf(connector),
      http: (request) => service.client.send(request, new AbortController().signal),
      ...{ position, nowMs: Date.parse(now) },
    });
    const expected = steps.map(({ request }) => request);
    expect(service.received.map(({ method, path, body }) => shownRequest(method, path, body))).toEqual(
      expected.map(({ method, path, body }) => shownRequest(method, path, body)),
    );
    for (const [index, { headers = {} }] of expected.entries()) {
      const received = service.received[index]?.headers;
      expect(received).toMatchObject({ ...headers, ...signatureOf(connector) });
      expect(received).not.toHaveProperty('idempotency-key');
    }
    if (failure === undefined) {
      expect(result).toEqual({ kind: 'polled', items, position: next ?? null });
    } else {
      expect(result).toMatchObject({ kind: 'failure', code: failure });
    }
    expect(stringifyJson(result as unknown as JsonValue)).not.toContain(TOKEN);
  });
});

function shownRequest(method: string, path: string, body: JsonValue | undefined): object {
  return { line: `${method} ${path.replace(TOKEN, '{token}')}`, body: body ?? null };
}
