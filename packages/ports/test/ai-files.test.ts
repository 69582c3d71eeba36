import { describe, expect, it } from 'vitest';
import { answerOf, ask, PROVIDERS } from './ai-harness.ts';

const IMAGE = { name: 'photo.png', type: 'image/png', base64: Buffer.from('a picture').toString('base64') };
const DOCUMENT = {
  name: 'invoice.pdf',
  type: 'application/pdf',
  base64: Buffer.from('%PDF-1.7').toString('base64'),
};

describe.each(PROVIDERS)('files for %s', (provider) => {
  it.each([[[IMAGE]], [[DOCUMENT]], [[IMAGE, DOCUMENT, { ...IMAGE, type: 'image/webp' }]]])(
    'arrive as they are, before the text',
    async (files) => {
      const messages = [{ role: 'user' as const, text: 'What is it?', files }];
      const { result, server } = await ask(provider, () => 'A mill.', { messages });
      expect(answerOf(result).text).toBe('A mill.');
      const [turn] = server.requests[0]?.messages ?? [];
      expect(turn?.text).toBe('What is it?');
      expect(turn?.files?.map(({ type, base64 }) => [type, base64])).toEqual(
        files.map(({ type, base64 }) => [type, base64]),
      );
    },
  );
});

it('documents keep their name where the format has one', async () => {
  const messages = [{ role: 'user' as const, text: 'What is it?', files: [DOCUMENT] }];
  for (const provider of ['openai_compatible', 'anthropic'] as const) {
    const { server } = await ask(provider, () => 'A mill.', { messages });
    expect(server.requests[0]?.messages[0]?.files?.[0]?.name).toBe('invoice.pdf');
  }
});

it('a model that reads no images is a failure in the words of the provider', async () => {
  const messages = [{ role: 'user' as const, text: 'What is it?', files: [IMAGE] }];
  const { result } = await ask(
    'openai_compatible',
    () => ({ error: { status: 400, message: 'this model does not support image input' } }),
    { messages },
  );
  expect(result).toMatchObject({ code: 'ai_bad_request', retryable: false });
});
