import { request } from 'node:http';
import type { Queryable } from '@millrace/database/database';
import { chain, type Flow, type Step } from './client.ts';
import { readExecutions } from './ledger.ts';
import { until } from './until.ts';

/** What the caller of a webhook gets; `cut`: the connection ended without a response. */
type CallAnswer = { readonly status: number; readonly body: unknown } | 'cut';

/** A call that was accepted and may still be waiting. */
interface AcceptedCall {
  readonly executionId: number;
  readonly answer: Promise<CallAnswer>;
}

/** A workflow whose nodes run sequentially after a webhook's call. */
export function whenCalled(config: object, ...steps: Step[]): Flow {
  const { nodes, edges } = chain(...steps);
  const [start, ...others] = nodes;
  if (start === undefined) throw new Error('a chain has a trigger');
  return { nodes: [{ ...start, type: 'trigger.webhook', data: { config } }, ...others], edges };
}

/** Calls a webhook, without any limit of time: callers have their own, and the machine may be busy. */
export async function call(url: string, body: object): Promise<CallAnswer> {
  return new Promise((resolve) => {
    const sent = request(
      url,
      { method: 'POST', headers: { 'content-type': 'application/json' } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.once('error', () => resolve('cut'));
        response.once('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
      },
    );
    sent.once('error', () => resolve('cut'));
    sent.end(JSON.stringify(body));
  });
}

/** Calls the webhook of a workflow that has no execution yet, again while the service is too busy, and returns as soon as there is one. */
export async function callUntilAccepted(
  db: Queryable,
  workflowId: number,
  url: string,
  body: object,
): Promise<AcceptedCall> {
  for (;;) {
    let isRefused = false;
    const answer = call(url, body).then((given) => {
      isRefused = given !== 'cut' && given.status === 503;
      return given;
    });
    const seen = await until('the execution of a call', async () => {
      const [row] = await readExecutions(db, workflowId);
      return row?.id ?? (isRefused ? 'refused' : null);
    });
    if (seen !== 'refused') return { executionId: seen, answer };
  }
}
