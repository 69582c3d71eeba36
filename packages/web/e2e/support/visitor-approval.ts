import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { TestPerson } from '@millrace/testing/admin';
import { flowOf } from '../executions-world.ts';

const FIELDS = [
  { label: 'Amount・返金額', name: 'amount', type: 'number', required: true, value: '400' },
  { label: 'Reasons', name: 'reasons', type: 'choices', choices: ['Broken', '配送の遅れ'], required: true },
  { label: 'Tell the customer', name: 'tell', type: 'checkbox' },
  { label: 'Note', name: 'note', type: 'paragraph', help: 'For the books.' },
];

/** Asks somebody without an account for an approval. The service may call this machine. @returns the page, by the address in the message */
export async function askVisitor({ call, organisationId: org }: TestPerson, url: string): Promise<string> {
  const { promise: asked, resolve } = Promise.withResolvers<{ readonly link: string }>();
  const receiver = createServer((request, response) => {
    json(request).then(
      (body) => resolve(body as { readonly link: string }),
      () => undefined,
    );
    response.end();
  });
  await new Promise<void>((listening) => {
    receiver.listen(0, '127.0.0.1', listening);
  });
  const { port } = receiver.address() as AddressInfo;
  const config = {
    title: 'Refund order 17?・注文 17 を返金しますか？',
    text: 'The desk came with three legs.\n机の脚が 1 本足りませんでした。',
    fields: FIELDS,
    request: { url: `http://127.0.0.1:${port}`, body: { link: '{{args.approval_url}}' } },
  };
  const ask = { id: 'ask', type: 'wait.approval', position: { x: 260, y: 80 }, data: { config } };
  const { data, status, text } = await call('POST /orgs/:org/workflows', {
    params: { org },
    body: { name: 'Refund requests', flow_data: flowOf([ask], ['start>ask']) as never },
  });
  if (status !== 200) throw new Error(text);
  await call('POST /orgs/:org/workflows/:id/run', { params: { org, id: data.workflow.id }, body: {} });
  const { link } = await asked;
  receiver.close();
  // Tests reach the service by another address than its public one.
  return url + new URL(link).pathname;
}
