import {
  failure,
  isJsonArray,
  isJsonObject,
  type JsonValue,
  type LogLine,
  type NodeResult,
  ServiceError,
  success,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';

const MIB = 1024 * 1024;

export const coreCode = checkedNode({
  type: 'core.code',
  title: 'Code',
  description:
    'Runs JavaScript or Python in a sandbox. Its return value is the output `result`. The code has no access to files, the network, timers, packages or the service. JavaScript has `input`, `console`, the language itself and, of what browsers and Node add, Intl, URL, URLSearchParams, TextEncoder, TextDecoder, atob, btoa, structuredClone, crypto.subtle.digest, crypto.randomUUID and crypto.getRandomValues. Python has `input`, `print` and the standard library. Nothing is kept between runs.',
  icon: 'code-xml',
  kind: 'pure',
  properties: {
    language: choice(
      'Language',
      'JavaScript starts at once. Python takes about a fifth of a second longer, some seconds the first time, and more memory.',
      { javascript: 'JavaScript', python: 'Python' },
      { default: 'javascript' },
    ),
    code: Type.Unsafe<string>({
      type: 'string',
      title: 'Code',
      description:
        "The body of a function with the parameter input. Use return for the result, and in JavaScript await for promises. The result can be any JSON value; without return, it is empty. In JavaScript, integers beyond 2^53 arrive as BigInt, and a BigInt becomes a number in the result. In Python, integers are int, and decimals that a float can't hold are Decimal. Templates don't work here, because data must not become code: pass values in through input.",
      minLength: 1,
      maxLength: 200_000,
      default: 'return input;',
      'x-filled': true,
      'x-code': 'javascript',
      'x-code-by': 'language',
    }),
    input: Type.Unsafe<JsonValue>({
      title: 'Input',
      description:
        'The value of input in the code, usually an object of templates such as {"order": "{{trigger.data}}"}.',
      default: {},
    }),
    timeout_ms: Type.Integer({
      title: 'Time limit',
      description: 'In milliseconds. Longer runs are stopped with code_timeout.',
      minimum: 1,
      maximum: 60_000,
      default: 5_000,
    }),
    memory_mb: Type.Integer({
      title: 'Memory limit',
      description: 'In MiB. Runs that need more end with code_memory.',
      minimum: 1,
      maximum: 256,
      default: 64,
    }),
  },
  required: ['code'],
  // Not rendered: that would turn data into code.
  deferred: { code: 'arguments' },
  form: {
    main: ['language', 'code', 'input'],
    sections: [{ title: 'Limits', fields: ['timeout_ms', 'memory_mb'] }],
  },
  synonyms: ['function', 'javascript', 'js', 'script', 'custom', 'typescript', 'python', 'py'],
  examples: [
    {
      title: 'Sum the items of a list',
      config: {
        code: 'return input.lines.reduce((sum, line) => sum + line.price * line.quantity, 0);',
        input: { lines: '{{trigger.data.lines}}' },
      },
      trigger: {
        lines: [
          { price: 20, quantity: 2 },
          { price: 2.5, quantity: 1 },
        ],
      },
      expect: { output: { result: 42.5 } },
    },
    {
      title: 'Return an object',
      config: {
        code: "const [first, ...rest] = input.name.split(' ');\nreturn { first, last: rest.join(' ') };",
        input: { name: '{{trigger.data.name}}' },
      },
      trigger: { name: 'Ada King Lovelace' },
      expect: { output: { result: { first: 'Ada', last: 'King Lovelace' } } },
    },
    {
      title: 'Count words in Python',
      config: {
        language: 'python',
        code: 'from collections import Counter\n\nwords = input["text"].lower().split()\nreturn dict(Counter(words).most_common(2))',
        input: { text: '{{trigger.data.text}}' },
      },
      trigger: { text: 'to be or not to be' },
      expect: { output: { result: { to: 2, be: 2 } } },
    },
    {
      title: 'Code that throws',
      config: { code: "throw new Error('no such customer');" },
      expect: { failure: { code: 'code_error' } },
    },
  ],
  async run({ language, code, input, timeout_ms, memory_mb }, context) {
    // Deferred members aren't checked beforehand.
    if (typeof code !== 'string' || code === '') {
      return failure('invalid_config', message('nodes.no_code'));
    }
    if (HAS_TEMPLATE.test(code)) {
      return failure('code_error', message('nodes.template_in_code', { escaped: '\\{{' }));
    }
    // JavaScript reads an escaped brace as a brace; Python would keep the backslash.
    const source = language === 'python' ? code.replaceAll('\\{{', '{{') : code;
    const order = { language, source, input, timeoutMs: timeout_ms, memoryBytes: memory_mb * MIB };
    try {
      const { value, log } = await context.code.run(order, context.signal);
      return success({ result: value }, withLog(log));
    } catch (error) {
      return failureOf(error);
    }
  },
});

const HAS_TEMPLATE = /(?<!\\)\{\{\s*(?:trigger\.|nodes[.[]|vars[.[]|execution\.id|item\b|index\b)/;

function failureOf(error: unknown): NodeResult {
  if (!(error instanceof ServiceError)) throw error;
  const { code, explanation, retryable, details } = error;
  return failure(code, explanation, { retryable, ...withLog(logIn(details?.log ?? null)) });
}

/** The console lines in a service's error. */
function logIn(value: JsonValue): readonly LogLine[] {
  return isJsonArray(value) ? value.filter(isJsonObject).map((line) => line as LogLine) : [];
}

function withLog(log: readonly LogLine[]): { log?: readonly LogLine[] } {
  return log.length === 0 ? {} : { log };
}
