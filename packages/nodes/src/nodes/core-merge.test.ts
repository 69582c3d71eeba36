import { type JsonObject, parseJson, stringifyJson, success } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { coreMerge } from './core-merge.ts';

async function merge(mode: string, inputs: { readonly [nodeId: string]: JsonObject }): Promise<string> {
  const { result } = await runNode(coreMerge, { config: { mode }, inputs });
  return stringifyJson(result.kind === 'success' ? result.output : null);
}

describe('core.merge', () => {
  it('keeps outputs separate by default', async () => {
    const inputs = { a: { x: 1 }, b: { x: 2 } };
    expect((await runNode(coreMerge, { inputs })).result).toEqual(success(inputs));
  });

  it('combines members, with later edges winning', async () => {
    expect(await merge('combine', { b: { x: 1, only: true }, a: { x: 2 } })).toBe('{"x":2,"only":true}');
    expect(await merge('combine', { a: { x: { y: 1 } }, b: { x: { z: 1 } } })).toBe('{"x":{"z":1}}');
  });

  it('respects the order of the edges for ids that look like numbers', async () => {
    const inputs = { '10': { x: 'ten' }, '2': { x: 'two', only: true } };
    const inputOrder = ['10', '2'];
    const run = async (mode: string) =>
      (await runNode(coreMerge, { config: { mode }, inputs, inputOrder })).result;
    expect(await run('first')).toEqual(success({ x: 'ten' }));
    expect(await run('combine')).toEqual(success({ x: 'two', only: true }));
  });

  it('takes the first taken edge', async () => {
    expect(await merge('first', { b: { x: 1 }, a: { x: 2 } })).toBe('{"x":1}');
  });

  it.each(['all', 'combine', 'first'])('is empty without inputs in mode %s', async (mode) => {
    expect(await merge(mode, {})).toBe('{}');
  });

  it('keeps members named __proto__ as data', async () => {
    const odd = parseJson('{"__proto__":{"polluted":true}}') as JsonObject;
    expect(await merge('combine', { a: { k: 1 }, b: odd })).toBe('{"k":1,"__proto__":{"polluted":true}}');
    const inputs = parseJson('{"__proto__":{"x":1}}') as { [id: string]: JsonObject };
    expect(await merge('all', inputs)).toBe('{"__proto__":{"x":1}}');
    expect('polluted' in {}).toBe(false);
  });

  it('refuses an unknown mode', async () => {
    expect((await runNode(coreMerge, { config: { mode: 'zip' } })).result).toMatchObject({
      code: 'invalid_config',
      message: saying('all, combine, first'),
    });
  });
});
