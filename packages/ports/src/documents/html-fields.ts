import type { HtmlField, JsonObject, JsonValue } from '@millrace/engine';
import { setOwn } from '@millrace/engine';
import { message } from '@millrace/messages';
import { compile, selectAll, selectOne } from 'css-select';
import { render } from 'dom-serializer';
import { Document, type Element } from 'domhandler';
import { DocumentFault } from './fault.ts';
import { completeUrl, readTree, visibleText } from './tree.ts';

/** Attributes that are addresses, which are completed. */
const ADDRESSES = new Set(['href', 'src', 'action', 'poster', 'data', 'cite']);

type Query = Parameters<typeof selectAll<Document | Element, Element>>[0];

/** A field with its selector compiled, once for however many elements it is read from. */
interface CompiledField {
  readonly field: HtmlField;
  /** Null: the element itself. */
  readonly query: Query | null;
  readonly fields: readonly CompiledField[];
}

/**
 * Reads fields from a page.
 * @throws DocumentFault invalid_config when a selector can't be read; document_too_complex
 */
export function readHtmlFields(
  html: string,
  fields: readonly HtmlField[],
  baseUrl: string | null,
): JsonObject {
  const compiled = fields.map((field, index) => compileField(field, `fields.${index}`));
  return fieldsOf(readTree(html, 'html'), compiled, baseUrl);
}

/**
 * The part of a page that a selector names, else its body, else all of it.
 * @throws DocumentFault
 */
export function partOfPage(html: string, selector: string): Document | Element | null {
  const page = readTree(html, 'html');
  if (selector.trim() === '') return selectOne<Document | Element, Element>('body', page) ?? page;
  return selectOne<Document | Element, Element>(compileSelector(selector, 'selector'), page);
}

function compileField(field: HtmlField, path: string): CompiledField {
  return {
    field,
    query: field.selector.trim() === '' ? null : compileSelector(field.selector, `${path}.selector`),
    fields: field.fields.map((each, index) => compileField(each, `${path}.fields.${index}`)),
  };
}

/** Selectors that depend on where the search begins can't be compiled before that is known. */
const RELATIVE = /^\s*[>+~]|,\s*[>+~]|:scope/;

function compileSelector(selector: string, path: string): Query {
  try {
    const compiled = compile<Document | Element, Element>(selector, {}, new Document([]));
    return RELATIVE.test(selector) ? selector : (compiled as Query);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DocumentFault('invalid_config', message('ports.wrong_selector', { path, selector, reason }));
  }
}

function fieldsOf(
  within: Document | Element,
  fields: readonly CompiledField[],
  baseUrl: string | null,
): JsonObject {
  const found: { [name: string]: JsonValue } = {};
  for (const each of fields) setOwn(found, each.field.name, readField(within, each, baseUrl));
  return found;
}

function readField(within: Document | Element, compiled: CompiledField, baseUrl: string | null): JsonValue {
  const { field, query } = compiled;
  if (field.all) {
    const matches = query === null ? [within] : selectAll<Document | Element, Element>(query, within);
    return matches.map((match) => readValue(match, compiled, baseUrl));
  }
  const match = query === null ? within : selectOne<Document | Element, Element>(query, within);
  return match === null ? null : readValue(match, compiled, baseUrl);
}

function readValue(
  found: Document | Element,
  { field, fields }: CompiledField,
  baseUrl: string | null,
): JsonValue {
  switch (field.value) {
    case 'text':
      return visibleText(found);
    case 'html':
      return render(found.children, { encodeEntities: 'utf8' }).trim();
    case 'attribute':
      return attributeOf(found, field.attribute.trim().toLowerCase(), baseUrl);
    case 'fields':
      return fieldsOf(found, fields, baseUrl);
  }
}

function attributeOf(found: Document | Element, name: string, baseUrl: string | null): string | null {
  if (!('attribs' in found) || !Object.hasOwn(found.attribs, name)) return null;
  const value = found.attribs[name] ?? '';
  return ADDRESSES.has(name) ? completeUrl(value, baseUrl) : value;
}
