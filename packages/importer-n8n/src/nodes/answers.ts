import { type JsonValue, setOwn } from '@millrace/engine';
import { literal, TOP, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import { responseHeaderFault } from '@millrace/triggers';
import type { Compiler } from '../compiler.ts';
import { type LastItems, lastItems } from '../ends.ts';
import { arrayOf, type N8nNode, objectOf, parameterOf, textOf } from '../read.ts';
import type { Answer, Triggered } from './triggers.ts';

/** Answers whoever started the execution when it has ended, with the items of the node that ran last. */
export function answerWith(compiler: Compiler, { id, answer, node }: Triggered): void {
  const config = compiler.builder.config(id);
  if (config === undefined || answer === 'none' || answer === 'respond_node') return;
  const last = lastItems(compiler, node, memberOf(node, answer));
  if (last === null) return;
  if (last.isCut) compiler.approximate(node, message('import.ends_left_out'));
  const first = template(last.first);
  if (answer === 'chat_page') config.answer = first;
  else if (answer === 'chat') config.response = { status: 200, body: { output: first } };
  else if (answer === 'last_node') config.response = responseOf(compiler, node, last);
  else if (answer === 'caller') addResult(compiler, node, last);
}

/** The member of the first item that is answered with. */
function memberOf(node: N8nNode, answer: Answer): readonly string[] {
  if (answer === 'chat' || answer === 'chat_page') return ['output'];
  const name = textOf(parameterOf(node, 'options.responsePropertyName')) ?? '';
  return answer !== 'last_node' || name === '' || name.startsWith('=') ? [] : name.split('.');
}

/** What a webhook answers with when it is done, as its settings say. */
function responseOf(
  compiler: Compiler,
  node: N8nNode,
  last: LastItems,
): { readonly [name: string]: JsonValue } {
  const { parameters } = node;
  const plain = (value: JsonValue | undefined): string => {
    const text = textOf(value) ?? '';
    if (text.startsWith('=')) compiler.approximate(node, message('import.answer_expression'));
    return text.startsWith('=') ? '' : text;
  };
  const isWithout = parameterOf(node, 'options.noResponseBody') === true;
  const what = textOf(parameters.responseData) ?? (isWithout ? 'noData' : 'firstEntryJson');
  const headers: { [name: string]: string } = {};
  for (const entry of arrayOf(parameterOf(node, 'options.responseHeaders.entries')).map(objectOf)) {
    const name = textOf(entry.name) ?? '';
    const value = plain(entry.value);
    if (responseHeaderFault(name) !== null)
      compiler.approximate(node, message('import.response_header', { name }));
    else if (value !== '') setOwn(headers, name, literal(value));
  }
  const contentType = parameterOf(node, 'options.responseContentType');
  const type = what === 'firstEntryJson' ? plain(contentType) : '';
  if (type !== '') headers['Content-Type'] = literal(type);
  const response = {
    status: statusOf(node),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
  if (what === 'noData') return response;
  if (what === 'allEntries') return { ...response, body: template(last.all) };
  compiler.approximate(
    node,
    what === 'firstEntryBinary' ? message('import.answer_is_file') : message('import.answer_if_empty'),
  );
  if (what !== 'firstEntryJson') return response;
  // An expression is reported; the whole item is sent.
  plain(parameterOf(node, 'options.responsePropertyName'));
  return { ...response, body: template(last.first) };
}

function statusOf(node: N8nNode): number {
  const chosen = objectOf(parameterOf(node, 'options.responseCode.values'));
  const status = Number(node.parameters.responseCode ?? (chosen.customCode || chosen.responseCode) ?? 200);
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : 200;
}

/** The result of a workflow that others call: all items of the node that ran last, without what Millrace knows besides them. */
function addResult(compiler: Compiler, node: N8nNode, { all, exits, position }: LastItems): void {
  compiler.add(node, {
    type: 'core.set',
    label: 'Result',
    config: { values: { items: template(all) } },
    scope: TOP,
    after: exits,
    position,
  });
}
