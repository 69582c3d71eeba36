import {
  finishWork,
  type HttpRequest,
  type HttpResponse,
  type JsonObject,
  type JsonValue,
  Meter,
  type NodeDefinition,
  type PollContext,
  type PollResult,
} from '@millrace/engine';
import { directDocuments } from '@millrace/node-kit/testing-documents';

/** What one poll found, and its requests. */
export interface PollOutcome {
  readonly result: PollResult;
  readonly requests: readonly HttpRequest[];
}

/** Polls once; every request gets the same response. */
export async function pollWith(
  definition: NodeDefinition,
  config: JsonObject,
  response: HttpResponse,
): Promise<PollOutcome> {
  const requests: HttpRequest[] = [];
  const context: Partial<PollContext> = {
    config,
    position: null,
    isFirst: false,
    isTestMode: false,
    signal: new AbortController().signal,
    now: () => 0,
    documents: directDocuments,
    http: {
      send: async (request) => {
        requests.push(request);
        return response;
      },
    },
    inTurns: async (make) => finishWork(make(new Meter())),
  };
  if (definition.polling === undefined) throw new Error(`${definition.type} does not poll`);
  return { result: await definition.polling.poll(context as PollContext), requests };
}

/** A response of 200 with this body: text as it is, anything else as JSON. */
export function answered(body: JsonValue, status = 200, headers: HttpResponse['headers'] = {}): HttpResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers, body: new TextEncoder().encode(text) };
}
