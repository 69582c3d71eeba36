import { type JsonValue, parseJson, stringifyJson } from '@millrace/engine';
import { startTestService } from '@millrace/testing/service';
import { expect, test } from 'vitest';

const ROWS = {
  missing: undefined,
  exact: parseJson('[1e400, 9007199254740993]'),
  rows: Array.from({ length: 40_000 }, (_, n) => ({ n, text: `row "${n}"`, missing: undefined })),
} as unknown as JsonValue;

test('a large response is serialised in turns, with the same result as at once', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  const service = await startTestService({
    runsWorker: false,
    extend: (app) =>
      app.get(
        '/large',
        {
          config: { public: true },
          onSend: async () => {
            isOver = true;
          },
        },
        async () => {
          setImmediate(count);
          return ROWS;
        },
      ),
  });
  try {
    const response = await fetch(`${service.url}/large`);
    expect(await response.text()).toBe(stringifyJson(ROWS));
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(turns).toBeGreaterThan(3);
  } finally {
    await service.stop();
  }
});
