import { success } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { triggerManual } from './trigger-manual.ts';

describe('trigger.manual', () => {
  it.each([[{}], [{ a: [1] }], [null], ['text']])(
    'passes on the data it was started with: %j',
    async (trigger) => {
      const { result } = await runNode(triggerManual, { trigger });
      expect(result).toEqual(success({ data: trigger }));
    },
  );
});
