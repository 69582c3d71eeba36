import { parseJson, stringifyJson, success } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import { runNode } from '../testing.ts';
import { triggerWebhook } from './trigger-webhook.ts';

describe('trigger.webhook', () => {
  it.each(['null', '0', '[]', '{"n":9007199254740993}', '{"__proto__":{"a":1}}'])(
    'hands on any body unchanged: %s',
    async (text) => {
      const { result } = await runNode(triggerWebhook, { trigger: parseJson(text) });
      expect(result).toEqual(success({ data: parseJson(text) }));
      expect(stringifyJson(result.kind === 'success' ? result.output : null)).toBe(`{"data":${text}}`);
    },
  );
});
