import type { JsonValue } from '@millrace/engine';
import { template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { forItem, type Handlers } from '../handler.ts';
import { arrayOf, objectOf, textOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';

/** Nodes that read text out of what was downloaded, or convert it. */
export const TEXTS: Handlers = {
  markdown: forItem(markdown),
  html: forItem(html),
  htmlExtract: forItem(html),
  xml: forItem(xml),
};

/** The text that the item has under the given name. */
function textMember(step: Step): JsonValue {
  const given = step.text('dataPropertyName', 'data') || 'data';
  const name = given.replace(/^=/, '');
  if (given.startsWith('=') && name.includes('{{'))
    throw new Unmappable(message('import.name_is_expression', { name: given }));
  const path = name.split('.').map((part) => `[${JSON.stringify(part)}]`);
  return withWholeBody(step, step.value(`={{ $json${path.join('')} }}`));
}

/** What isn't JSON is `data` of an HTTP Request there, and the whole body here. Documents aren't JSON. */
function withWholeBody(step: Step, value: JsonValue): JsonValue {
  const [, path, id] =
    typeof value === 'string'
      ? (/^\{\{(nodes\.([a-z0-9_]+)\.output\.body)\.data\}\}$/.exec(value) ?? [])
      : [];
  if (path === undefined || id === undefined) return value;
  const { outs, workflow } = step.compiler;
  const isRequest = [...outs].some(
    ([name, each]) =>
      workflow.nodes.get(name)?.kind === 'httpRequest' && each.some(({ ref }) => ref.owner === id),
  );
  return isRequest ? template(path) : value;
}

function html(step: Step): readonly Out[] {
  const operation =
    step.node.kind === 'htmlExtract' ? 'extractHtmlContent' : step.text('operation', 'generateHtmlTemplate');
  if (operation === 'extractHtmlContent') return extractHtml(step);
  if (operation !== 'generateHtmlTemplate')
    throw new Unmappable(message('import.unknown_operation', { operation }));
  const given = step.raw('html');
  const text = typeof given === 'string' ? (given.startsWith('=') ? given : `=${given}`) : '';
  const id = step.add('core.set', { values: { html: step.value(text) } });
  return [step.one(`nodes.${id}.output`)];
}

function extractHtml(step: Step): readonly Out[] {
  if (step.text('sourceData', 'json') !== 'json') throw new Unmappable(message('import.no_files'));
  const fields = arrayOf(step.raw('extractionValues.values'))
    .map(objectOf)
    .map((each) => {
      const value = textOf(each.returnValue) ?? 'text';
      const isAttribute = value === 'attribute' || value === 'value';
      return {
        name: textOf(each.key) ?? '',
        selector: step.value(each.cssSelector ?? ''),
        value: isAttribute ? 'attribute' : value === 'html' ? 'html' : 'text',
        ...(isAttribute ? { attribute: value === 'value' ? 'value' : step.value(each.attribute ?? '') } : {}),
        ...(each.returnArray === true ? { all: true } : {}),
      };
    })
    .filter(({ name }) => name !== '');
  const page = textMember(step);
  const id = step.add('data.html', { operation: 'extract', html: page, fields });
  return [step.one(`nodes.${id}.output.data`)];
}

function markdown(step: Step): readonly Out[] {
  const isToHtml = step.text('mode', 'htmlToMarkdown') === 'markdownToHtml';
  const text = withWholeBody(step, step.param(isToHtml ? 'markdown' : 'html', ''));
  if (isToHtml) step.approximate(message('import.html_escaped'));
  const hasBreaks = step.raw('options.simpleLineBreaks') === true;
  const id = step.add('data.markdown', {
    operation: isToHtml ? 'to_html' : 'from_html',
    text,
    ...(isToHtml && hasBreaks ? { line_breaks: true } : {}),
  });
  const name = step.text('destinationKey', 'data') || 'data';
  return [step.one(`nodes.${id}.output`, { [name]: [isToHtml ? 'html' : 'markdown'] })];
}

function xml(step: Step): readonly Out[] {
  const textName = step.text('options.charkey', '_') || '_';
  if (step.text('mode', 'xmlToJson') === 'jsonToxml') {
    const root = step.text('options.rootName', 'root') || 'root';
    const id = step.add('data.xml', {
      operation: 'write',
      data: step.item(),
      root,
      attribute_prefix: '',
      text_name: textName,
      ...(step.raw('options.headless') === true ? { declaration: false } : {}),
    });
    const name = step.text('dataPropertyName', 'data') || 'data';
    return [step.one(`nodes.${id}.output`, { [name]: ['xml'] })];
  }
  if (step.raw('options.mergeAttrs') === false || step.raw('options.explicitArray') === true)
    step.approximate(message('import.xml_form'));
  const id = step.add('data.xml', {
    operation: 'parse',
    xml: textMember(step),
    attribute_prefix: '',
    text_name: textName,
    ...(step.raw('options.ignoreAttrs') === true ? { attributes: false } : {}),
  });
  return [step.one(`nodes.${id}.output.data`)];
}
