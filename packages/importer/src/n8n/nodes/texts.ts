import { message } from '@millrace/messages';
import { template } from '../../refs.ts';
import type { Out } from '../compiler.ts';
import { forItem, type Handlers } from '../handler.ts';
import { type Step, Unmappable } from '../step.ts';

/** Nodes that read text out of what was downloaded, or convert it. */
export const TEXTS: Handlers = {
  extractFromFile: forItem(readFile),
  markdown: forItem(markdown),
  form: forItem(formPage),
  xml: forItem((step) => {
    throw new Unmappable(message('import.unknown_operation', { operation: step.text('mode', 'xmlToJson') }));
  }),
};

const DECODE =
  "const bytes = Uint8Array.from(atob(input.file ?? ''), (letter) => letter.charCodeAt(0));\nconst text = new TextDecoder().decode(bytes);\n";
const READERS: { readonly [operation: string]: string } = {
  text: 'return { [input.name]: text };',
  html: 'return { [input.name]: text };',
  xml: 'return { [input.name]: text };',
  ics: 'return { [input.name]: text };',
  rtf: 'return { [input.name]: text };',
  binaryToPropery: 'return { [input.name]: input.file };',
  fromJson: 'return { [input.name]: JSON.parse(text) };',
};
const CSV = `const rows = [[]];
let field = '', isQuoted = false;
for (let at = 0; at <= text.length; at += 1) {
  const letter = text[at];
  if (isQuoted) {
    if (letter === '"' && text[at + 1] === '"') { field += '"'; at += 1; }
    else if (letter === '"') isQuoted = false;
    else if (letter === undefined) break;
    else field += letter;
  } else if (letter === '"' && field === '') isQuoted = true;
  else if (letter === input.separator || letter === '\\n' || letter === undefined) {
    rows.at(-1).push(field.replace(/\\r$/, ''));
    field = '';
    if (letter === '\\n') rows.push([]);
  } else field += letter;
}
const [header = [], ...lines] = rows.filter((row) => row.some((value) => value !== ''));
return lines.map((line) => Object.fromEntries(header.map((name, column) => [name, line[column] ?? ''])));`;

/** Reads a file that the node before has downloaded as Base64. */
function readFile(step: Step): readonly Out[] {
  const operation = step.text('operation', 'csv');
  const { input } = step;
  const isFile =
    input?.shape !== undefined && Object.hasOwn(input.shape, 'data') && input.shape.data?.length === 0;
  if (input === null || !isFile) throw new Unmappable(message('import.no_files'));
  const code = operation === 'csv' ? CSV : Object.hasOwn(READERS, operation) ? READERS[operation] : undefined;
  if (code === undefined) throw new Unmappable(message('import.unknown_operation', { operation }));
  const separator = step.text('options.delimiter', ',');
  const id = step.add('core.code', {
    code: `${DECODE}${code}`,
    input: {
      file: template(step.compiler.pathIn(input, step.scope)),
      ...(operation === 'csv' ? { separator } : { name: step.text('destinationKey', 'data') || 'data' }),
    },
  });
  const path = `nodes.${id}.output.result`;
  return [operation === 'csv' ? step.many(path) : step.one(path)];
}

const TO_HTML = `const escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const inline = (text) => escape(text)
  .replace(/\`([^\`]+)\`/g, '<code>$1</code>').replace(/!\\[([^\\]]*)\\]\\(([^)\\s]+)\\)/g, '<img src="$2" alt="$1">')
  .replace(/\\[([^\\]]+)\\]\\(([^)\\s]+)\\)/g, '<a href="$2">$1</a>').replace(/\\*\\*([^*]+)\\*\\*/g, '<strong>$1</strong>').replace(/\\*([^*]+)\\*/g, '<em>$1</em>');
const html = String(input.text ?? '').split(/\\n\\s*\\n/).map((block) => {
  const lines = block.trim().split('\\n');
  const heading = /^(#{1,6})\\s+(.*)$/.exec(lines[0]);
  if (heading && lines.length === 1) return '<h' + heading[1].length + '>' + inline(heading[2]) + '</h' + heading[1].length + '>';
  if (lines.every((line) => /^[-*+]\\s+/.test(line))) return '<ul>' + lines.map((line) => '<li>' + inline(line.replace(/^[-*+]\\s+/, '')) + '</li>').join('') + '</ul>';
  if (lines.every((line) => /^\\d+[.)]\\s+/.test(line))) return '<ol>' + lines.map((line) => '<li>' + inline(line.replace(/^\\d+[.)]\\s+/, '')) + '</li>').join('') + '</ol>';
  return '<p>' + lines.map((line) => { const title = /^(#{1,6})\\s+(.*)$/.exec(line); return title ? '<strong>' + inline(title[2]) + '</strong>' : inline(line); }).join('<br>') + '</p>';
}).join('\\n');
return html;`;
const TO_MARKDOWN = `const entities = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&nbsp;': ' ', '&amp;': '&' };
return String(input.text ?? '').replace(/<(script|style)[^>]*>[\\s\\S]*?<\\/\\1>/gi, '')
  .replace(/<h([1-6])[^>]*>([\\s\\S]*?)<\\/h\\1>/gi, (_, level, text) => '\\n\\n' + '#'.repeat(level) + ' ' + text + '\\n\\n')
  .replace(/<a[^>]*href="([^"]*)"[^>]*>([\\s\\S]*?)<\\/a>/gi, '[$2]($1)').replace(/<(?:strong|b)>([\\s\\S]*?)<\\/(?:strong|b)>/gi, '**$1**')
  .replace(/<(?:em|i)>([\\s\\S]*?)<\\/(?:em|i)>/gi, '*$1*').replace(/<li[^>]*>/gi, '\\n- ').replace(/<br[^>]*>/gi, '\\n').replace(/<\\/?(?:p|div|tr|ul|ol)[^>]*>/gi, '\\n\\n')
  .replace(/<[^>]+>/g, '').replace(/&(?:lt|gt|quot|#39|nbsp|amp);/g, (found) => entities[found]).replace(/\\n{3,}/g, '\\n\\n').trim();`;

function markdown(step: Step): readonly Out[] {
  const toHtml = step.text('mode', 'htmlToMarkdown') === 'markdownToHtml';
  const text = step.param(toHtml ? 'markdown' : 'html', '');
  step.approximate(message('import.simple_markdown'));
  const id = step.add('core.code', { code: toHtml ? TO_HTML : TO_MARKDOWN, input: { text } });
  const name = step.text('destinationKey', 'data') || 'data';
  return [step.one(`nodes.${id}.output`, { [name]: ['result'] })];
}

/** The last page of a form says something; other pages wait for a person. */
function formPage(step: Step): readonly Out[] {
  if (step.text('operation') !== 'completion') throw new Unmappable(message('import.wait_for_call'));
  step.approximate(message('import.not_needed'));
  step.add('core.set', { values: {} });
  return [step.pass()];
}
