import type { ContentService, ContentTask, JsonObject } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { memoryFiles } from '@millrace/node-kit/testing-files';
import { describe, expect, it } from 'vitest';
import { fileImage } from './file-image.ts';

/** One pixel. */
const dot = { $file: '00000000-0000-4000-8000-000000000005' };
const note = { $file: '00000000-0000-4000-8000-000000000002' };

/** What the node asks for, and what it makes of the answer. */
async function asked(config: JsonObject) {
  const works: {
    readonly task: ContentTask;
    readonly names: readonly string[];
    readonly timeoutMs: number;
  }[] = [];
  const contents: ContentService = {
    work: async ({ task, inputs, timeoutMs }) => {
      works.push({ task, names: inputs.map(({ name }) => name), timeoutMs });
      return { width: 1 };
    },
  };
  const { result } = await runNode(fileImage, { config: { file: dot, ...config }, services: { contents } });
  return { result, works };
}

const UNCHANGED = {
  ...{ kind: 'image_change', area: null, quarters: 0, width: 0, height: 0 },
  ...{ fit: 'inside', format: null, quality: 80, name: '' },
};

describe('file.image', () => {
  it.each<[JsonObject, object]>([
    [{}, {}],
    [
      { width: 300, height: 200, fit: 'cover' },
      { width: 300, height: 200, fit: 'cover' },
    ],
    [{ rotate: '270' }, { quarters: 3 }],
    [
      { format: 'webp', quality: 1, name: 'small' },
      { format: 'webp', quality: 1, name: 'small' },
    ],
    [{ crop_x: 5 }, { area: { x: 5, y: 0, width: 0, height: 0 } }],
    [{ crop_x: 1, crop_y: 2, crop_width: 3, crop_height: 4 }, { area: { x: 1, y: 2, width: 3, height: 4 } }],
  ])('asks under the settings %j for %j', async (config, expected) => {
    const { result, works } = await asked(config);
    const task = { ...UNCHANGED, ...expected };
    expect(works).toEqual([{ task, names: ['dot.png'], timeoutMs: 120_000 }]);
    expect(result).toMatchObject({ kind: 'success', output: { width: 1 } });
  });

  it('asks for nothing but the size, whatever is left of a change', async () => {
    const { works } = await asked({ operation: 'info', width: 300, rotate: '90', timeout_ms: 5 });
    expect(works).toEqual([{ task: { kind: 'image_info' }, names: ['dot.png'], timeoutMs: 5 }]);
  });

  it('makes another image, which it can read', async () => {
    const files = memoryFiles();
    const run = async (config: JsonObject) =>
      (await runNode(fileImage, { config, services: { files } })).result;
    const size = { width: 3, height: 2, fit: 'stretch' };
    expect(await run({ file: dot, ...size, rotate: '90', format: 'jpeg', name: 'large' })).toMatchObject({
      output: { file: { name: 'large.jpg', type: 'image/jpeg' }, format: 'jpeg', width: 3, height: 2 },
    });
    const [made] = [...files.stored.keys()].slice(-1);
    expect(await run({ operation: 'info', file: { $file: made ?? '' } })).toMatchObject({
      output: { format: 'jpeg', width: 3, height: 2, has_metadata: false },
    });
  });

  it.each<[string, JsonObject, string]>([
    ['a text', { file: note }, 'invalid_data'],
    ['a file that is gone', { file: { $file: '00000000-0000-4000-8000-000000000099' } }, 'file_not_found'],
    ['what is no file', { file: 'dot.png' }, 'invalid_config'],
    ['a part outside of the image', { crop_x: 1, crop_width: 1 }, 'invalid_config'],
  ])('fails for %s', async (_what, config, code) => {
    const { result } = await runNode(fileImage, { config: { file: dot, ...config } });
    expect(result).toMatchObject({ kind: 'failure', code });
  });

  it.each<[string, JsonObject]>([
    ['width', { width: 20_001 }],
    ['height', { height: -1 }],
    ['crop_x', { crop_x: 0.5 }],
    ['rotate', { rotate: '45' }],
    ['format', { format: 'gif' }],
    ['quality', { quality: 0 }],
    ['quality', { quality: 101 }],
    ['name', { name: 'x'.repeat(201) }],
    ['timeout_ms', { timeout_ms: 600_001 }],
  ])('begins nothing if %s is out of bounds: %j', async (name, config) => {
    const { result, works } = await asked(config);
    expect(result).toMatchObject({
      code: 'invalid_config',
      message: { params: { path: `config.${name}` } },
    });
    expect(works).toEqual([]);
  });
});
