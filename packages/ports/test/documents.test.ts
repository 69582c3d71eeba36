import { type Conversion, type JsonValue, ServiceError } from '@millrace/engine';
import type { Caller } from '@millrace/runtime/node-services';
import { afterAll, describe, expect, it } from 'vitest';
import { createCodeService } from '../src/code.ts';
import { convertDocument } from '../src/documents/convert.ts';
import { DocumentFault } from '../src/documents/fault.ts';

const MIB = 1024 * 1024;
const services = createCodeService({ maxOutputBytes: 2 * MIB, maxThreads: 2 });
afterAll(() => services.close());

const caller = { organisationId: 1 } as Caller;
const NEVER = new AbortController().signal;
const PATIENT_MS = 60_000;

function convert(
  text: string,
  conversion: Conversion,
  timeoutMs = PATIENT_MS,
  signal = NEVER,
): Promise<JsonValue> {
  return services.documents(caller).convert({ text, conversion, timeoutMs }, signal);
}

async function codeOf(converting: Promise<JsonValue>): Promise<string> {
  const ended: unknown = await converting.catch((error: unknown) => error);
  if (ended instanceof ServiceError) return ended.code;
  throw new Error(`it did not fail as documents do: ${JSON.stringify(ended).slice(0, 200)}`, {
    cause: ended,
  });
}

const field = (selector: string) =>
  ({ name: 'x', selector, value: 'text', attribute: '', all: true, fields: [] }) as const;
const fields = (selector: string): Conversion => ({
  kind: 'html_fields',
  fields: [field(selector)],
  baseUrl: null,
});

/** With a selector by which each element asks about all that follow it. */
const SLOW = `<div>${'<p><b>x</b></p>'.repeat(60_000)}</div>`;

describe('documents in threads', () => {
  it('are converted, and the threads still run code', async () => {
    expect(await convert('<p>1</p><p>2</p>', fields('p'))).toEqual({ x: ['1', '2'] });
    const code = {
      language: 'javascript',
      source: 'return 1',
      input: {},
      timeoutMs: PATIENT_MS,
      memoryBytes: 64 * MIB,
    } as const;
    expect((await services.service(caller).run(code, NEVER)).value).toBe(1);
  });

  it('that take too long are stopped with their thread, and too large results are refused', async () => {
    expect(await codeOf(convert(SLOW, fields('p:has(~ p > i)'), 50))).toBe('document_timeout');
    const html: Conversion = { kind: 'html_text', selector: '' };
    expect(await codeOf(convert(`<p>${'x'.repeat(3 * MIB)}</p>`, html))).toBe('document_output_too_large');
  });

  it('that are cancelled end as aborted, and can be tried again', async () => {
    const controller = new AbortController();
    const converting = convert(SLOW, fields('p:has(~ p > i)'), PATIENT_MS, controller.signal);
    controller.abort();
    const error: unknown = await converting.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'aborted', retryable: true });
  });
});

describe('documents are bounded', () => {
  const DEEP = '<b><i>'.repeat(250);

  it('in depth', () => {
    expect(convertDocument(`${DEEP}x`, fields('i i:not(:has(i))'))).toEqual({ x: ['x'] });
    for (const conversion of [
      fields('p'),
      { kind: 'html_to_markdown', selector: '', baseUrl: null } as const,
    ]) {
      expect(() => convertDocument('<div>'.repeat(600), conversion)).toThrow(DocumentFault);
      expect(() => convertDocument('<div>'.repeat(510), conversion)).not.toThrow();
    }
  });

  it('in the number of elements', () => {
    expect(() => convertDocument('<br>'.repeat(500_001), fields('p'))).toThrow(DocumentFault);
  });
});
