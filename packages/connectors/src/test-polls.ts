import {
  type CredentialOf,
  finishWork,
  type HttpClient,
  type HttpRequest,
  type JsonObject,
  type JsonValue,
  Meter,
  type NodeDefinition,
  type PollContext,
  type PollResult,
} from '@millrace/engine';
import type { Connector } from './format.ts';

/** A chat credential of a connector's service. */
export function chatCredential(
  chat: Connector['authentication']['chat'],
  token: string,
): CredentialOf<'chat'> {
  if (chat === undefined) throw new Error('the connector takes no chat credential');
  return { type: 'chat', service: chat.service, webhook_url: null, token, base_url: null };
}

/** How a test polls. */
interface TestPoll {
  readonly config: JsonObject;
  /** Null: the first poll. */
  readonly position: JsonValue;
  readonly now: string;
  readonly client: HttpClient;
  readonly token: string;
  /** Of a connector whose token stands in the path. */
  readonly chat?: Connector['authentication']['chat'];
}

/** Polls once, as the engine of polling does for a workflow that has seen nothing of what is listed. */
export async function pollOnce(
  { polling }: NodeDefinition,
  { config, position, now, client, token, chat }: TestPoll,
): Promise<PollResult> {
  if (polling === undefined) throw new Error('the node does not poll');
  const signal = new AbortController().signal;
  const context: Partial<PollContext> = {
    ...{ config, position, signal, isFirst: position === null, isTestMode: false },
    now: () => Date.parse(now),
    http: client,
    credentials: {
      open: async () => chatCredential(chat, token),
      authenticate: async (_id: number, request: HttpRequest) => {
        const signed = { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } };
        return { shown: request, send: (until: AbortSignal) => client.send(signed, until) };
      },
    } as unknown as PollContext['credentials'],
    inTurns: async (make) => finishWork(make(new Meter())),
  };
  const found = await polling.poll(context as PollContext);
  if (found.kind === 'failure' || polling.complete === undefined || found.items.length === 0) return found;
  const items = await polling.complete(context as PollContext, found.items);
  return 'kind' in items ? items : { ...found, items };
}
