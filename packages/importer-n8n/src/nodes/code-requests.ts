import type { JsonObject } from '@millrace/engine';
import { REQUESTS } from '@millrace/importer-expressions/requests';
import { extend, type Scope, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import { Step } from '../step.ts';
import { AUTH } from './parts.ts';

/** As many requests may one run of code send: each makes the code run once more, with all answers so far. */
const MAX_REQUESTS = 50;

/**
 * A Repeat loop for code that sends requests: the code runs until it asks for a request, which is sent, and runs again with its answer.
 * @param body what computes `results`
 * @returns where the results are
 */
export function codeWithRequests(step: Step, body: string, isSigned: boolean): string {
  step.approximate(message('import.code_sends', { max: MAX_REQUESTS }));
  if (isSigned) step.approximate(message('import.choose_credential'));
  const until: { left: string; operator: string }[] = [];
  const result: { [name: string]: string } = {};
  const loop = step.add('core.repeat', { until, result, max_iterations: MAX_REQUESTS + 1 });
  const scope: Scope = { id: loop, parent: step.scope, kind: 'repeat', list: '' };
  const { compiler, node, input } = step;
  const inside = new Step(compiler, node, { scope, input, after: [], extras: { on_error: 'continue' } });
  const code = inside.addCode(
    `${REQUESTS}
const run = async () => {
${body}
return results;
};
return Promise.race([requests.asked.then((request) => ({ request })), run().then((results) => ({ results }))]).then((made) => ({ ...made, start: requests.start }));`,
    {
      suffix: 'code',
      input: {
        answers: template('item.answers'),
        start: template('item.start'),
        ...placeOf(step, body),
      },
    },
  );
  const made = `nodes.${code}.output.result`;
  const request = (name: string) => template(extend(`${made}.request`, [name]));
  const isAsked = inside.add(
    'core.if',
    { conditions: [{ left: template(`${made}.request`), operator: 'exists' }] },
    { suffix: 'asks?' },
  );
  inside.continueFrom([{ id: isAsked, handle: 'true' }]);
  const sent = inside.add(
    'http.request',
    {
      method: request('method'),
      url: request('url'),
      headers: request('headers'),
      query: request('query'),
      body: request('body'),
      body_type: 'text',
      follow_redirects: request('redirects'),
      success_statuses: ['100-599'],
      ...(isSigned ? { auth: AUTH } : {}),
    },
    { suffix: 'request', isMain: true },
  );
  const output = `nodes.${sent}.output`;
  const answer = inside.add(
    'core.set',
    {
      values: {
        method: request('method'),
        url: request('url'),
        ...Object.fromEntries(
          ['status', 'headers', 'body', 'body_type'].map((name) => [name, template(`${output}.${name}`)]),
        ),
        error: template(`${output}.error.message`),
      },
    },
    { suffix: 'answer' },
  );
  until.push({ left: template(`${made}.request`), operator: 'not_exists' });
  Object.assign(result, {
    answers: template(`(item.answers) | concat: nodes.${answer}.output`),
    start: template(`${made}.start`),
    results: template(`${made}.results`),
  });
  return `nodes.${loop}.output.last.results`;
}

/** Which item, or which round of the original, the code is run for: `index` is that of the requests. */
function placeOf({ compiler, scope }: Step, code: string): JsonObject {
  if (!/\$itemIndex|\$runIndex/.test(code)) return {};
  if (scope.id === null) return { run: 0 };
  const index = template(compiler.builder.capture(scope).replace(/item$/, 'index'));
  return scope.kind === 'items' ? { index, run: 0 } : { run: index };
}
