import { findProblems, type JsonObject, parseJson } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { registry } from '../catalogue.ts';
import { webhookRespond } from './webhook-respond.ts';

async function outputOf(config: JsonObject) {
  const { result } = await runNode(webhookRespond, { config, trigger: {} });
  return result.kind === 'success' ? result.output : result;
}

describe('webhook.respond', () => {
  it('writes JSON without loss, also a string', async () => {
    expect(await outputOf({ body: parseJson('{"n":12345678901234567890}') })).toMatchObject({
      body: '{"n":12345678901234567890}',
    });
    expect(await outputOf({ body: 'a' })).toMatchObject({ body: '"a"' });
  });

  it('writes text and HTML as they are, anything else in them as JSON', async () => {
    expect(await outputOf({ format: 'html', body: '<p>' })).toMatchObject({ body: '<p>' });
    expect(await outputOf({ format: 'text', body: [1] })).toMatchObject({ body: '[1]' });
    expect(await outputOf({ format: 'text', body: '' })).toMatchObject({ body: '' });
  });

  it("has no type without a body, and keeps its workflow's own", async () => {
    expect(await outputOf({})).toEqual({ status: 200, headers: {}, body: null });
    expect(await outputOf({ body: 1, headers: { 'Content-Type': 'application/x' } })).toMatchObject({
      headers: { 'Content-Type': 'application/x' },
    });
  });

  it('takes numbers as headers and leaves out what is missing', async () => {
    expect(await outputOf({ headers: { 'X-N': 7, 'X-None': null } })).toMatchObject({
      headers: { 'X-N': '7' },
    });
  });

  it.each<[JsonObject, RegExp]>([
    [{ 'X-A': 'a\r\nSet-Cookie: b' }, /config\.headers\.X-A must not contain line breaks/],
    [{ 'X-A': '漢' }, /cannot carry/],
    [{ 'X-A': [1] }, /cannot carry/],
    [{ 'Set-Cookie': 'a=b' }, /reserved/],
  ])('refuses the headers %j', async (headers, reason) => {
    const { result } = await runNode(webhookRespond, { config: { headers }, trigger: {} });
    if (result.kind !== 'failure') throw new Error('it did not fail');
    expect([result.code, inEnglish(result.message)]).toEqual([
      'invalid_config',
      expect.stringMatching(reason),
    ]);
  });

  it('finds headers that are reserved before it runs', () => {
    const node = {
      id: 'node',
      type: 'webhook.respond',
      data: { config: { headers: { 'Content-Length': '1' } } },
    };
    const flow = {
      nodes: [{ id: 'start', type: 'trigger.webhook' }, node],
      edges: [{ source: 'start', target: 'node' }],
    };
    expect(findProblems(flow, registry).map(({ pointer }) => pointer)).toEqual([
      '/flow_data/nodes/1/data/config/headers/Content-Length',
    ]);
  });
});
