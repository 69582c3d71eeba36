import {
  isJsonArray,
  isJsonObject,
  isNumber,
  type JsonObject,
  type JsonValue,
  own,
  setOwn,
  stringifyJson,
  type XmlNames,
} from '@millrace/engine';
import { message, verbatim } from '@millrace/messages';
import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { DocumentFault } from './fault.ts';
import { MAX_DEPTH } from './tree.ts';

/** An element that isn't closed yet. */
interface OpenElement {
  readonly name: string;
  readonly members: { [name: string]: JsonValue };
  /** Names that occurred more than once, or are lists anyway. */
  readonly lists: { [name: string]: JsonValue[] };
  readonly texts: string[];
}

export interface ReadXmlOptions {
  readonly names: XmlNames;
  readonly keepAttributes: boolean;
  readonly localNames: boolean;
  readonly lists: readonly string[];
}

/**
 * A well-formed XML document as a value: an object with its root. An element is its text, or an object of its attributes, children and
 * text. Only the five entities of XML itself are known; a document type is skipped, whatever it declares or refers to.
 * @throws DocumentFault invalid_data with line and column; document_too_complex
 */
export function xmlToValue(text: string, options: ReadXmlOptions): JsonObject {
  const reader = new XmlReader(options);
  const parser = new SaxesParser({ xmlns: false });
  parser.on('error', ({ message: said }) => {
    const { line, column } = parser;
    const reason = verbatim(reasonOf(said));
    throw new DocumentFault('invalid_data', message('ports.xml_not_well_formed', { line, column, reason }));
  });
  parser.on('opentag', (tag) => reader.open(tag));
  parser.on('text', (part) => reader.addText(part));
  parser.on('cdata', (part) => reader.addText(part));
  parser.on('closetag', () => reader.close());
  parser.write(text.startsWith('\uFEFF') ? text.slice(1) : text.trimStart()).close();
  return reader.result;
}

/** What the parser says, as a part of a sentence. */
export function reasonOf(said: string): string {
  return said.replace(/^(?:[^:]*:)?\d+:\d+: /, '').replace(/\.$/, '');
}

class XmlReader {
  readonly #options: ReadXmlOptions;
  readonly #lists: ReadonlySet<string>;
  readonly #open: OpenElement[] = [];
  result: JsonObject = {};

  constructor(options: ReadXmlOptions) {
    this.#options = options;
    this.#lists = new Set(options.lists);
  }

  open({ name, attributes }: SaxesTagPlain): void {
    if (this.#open.length >= MAX_DEPTH) {
      throw new DocumentFault('document_too_complex', message('ports.document_too_deep', { max: MAX_DEPTH }));
    }
    const members: OpenElement['members'] = {};
    if (this.#options.keepAttributes) {
      for (const [attribute, value] of Object.entries(attributes)) {
        setOwn(members, `${this.#options.names.attributePrefix}${this.#nameOf(attribute)}`, value);
      }
    }
    this.#open.push({ name: this.#nameOf(name), members, lists: {}, texts: [] });
  }

  addText(text: string): void {
    this.#open.at(-1)?.texts.push(text);
  }

  close(): void {
    const closed = this.#open.pop();
    if (closed === undefined) return;
    const value = this.#valueOf(closed);
    const parent = this.#open.at(-1);
    if (parent !== undefined) this.#addTo(parent, closed.name, value);
    else setOwn(this.result as { [name: string]: JsonValue }, closed.name, value);
  }

  #nameOf(name: string): string {
    return this.#options.localNames ? name.slice(name.indexOf(':') + 1) : name;
  }

  #valueOf({ members, texts }: OpenElement): JsonValue {
    const text = texts.join('').trim();
    if (Object.keys(members).length === 0) return text;
    if (text !== '') setOwn(members, this.#options.names.textName, text);
    return members;
  }

  #addTo({ members, lists }: OpenElement, name: string, value: JsonValue): void {
    const list = own(lists, name);
    if (list !== undefined) {
      list.push(value);
      return;
    }
    const isRepeated = Object.hasOwn(members, name);
    if (!isRepeated && !this.#lists.has(name)) {
      setOwn(members, name, value);
      return;
    }
    const created = isRepeated ? [members[name] ?? null, value] : [value];
    setOwn(lists, name, created);
    setOwn(members, name, created);
  }
}

export interface WriteXmlOptions {
  readonly names: XmlNames;
  /** Empty: the value is an object with one member, the root. */
  readonly root: string;
  readonly declaration: boolean;
  readonly indent: boolean;
}

/**
 * A value as an XML document, the reverse of {@link xmlToValue}: lists become repeated elements.
 * @throws DocumentFault invalid_data, which says where in the value
 */
export function valueToXml(value: JsonValue, options: WriteXmlOptions): string {
  const [name, content] = rootOf(value, options.root);
  const writer = new XmlWriter(options);
  writer.element(name, content, name, 0);
  const head = options.declaration ? ['<?xml version="1.0" encoding="UTF-8"?>'] : [];
  return [...head, ...writer.lines].join(options.indent ? '\n' : '');
}

function rootOf(value: JsonValue, root: string): readonly [string, JsonValue] {
  if (root !== '') return [root, value];
  const members = isJsonObject(value) && !isNumber(value) ? Object.entries(value) : [];
  const [only] = members;
  if (only === undefined || members.length > 1 || isJsonArray(only[1] ?? null)) {
    throw new DocumentFault('invalid_data', message('ports.xml_one_root'));
  }
  return [only[0], only[1] ?? null];
}

/** Without the colon's meaning; namespaces are up to the author. */
const NAME = /^[\p{L}_:][\p{L}\p{M}\p{N}_:.\-\u00B7]*$/u;
/** What XML 1.0 can't contain, even escaped. */
const NOT_IN_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

class XmlWriter {
  readonly lines: string[] = [];
  readonly #names: XmlNames;
  readonly #indent: boolean;

  constructor({ names, indent }: WriteXmlOptions) {
    this.#names = names;
    this.#indent = indent;
  }

  element(name: string, value: JsonValue, path: string, depth: number): void {
    checkName(name, path);
    if (isJsonArray(value))
      throw new DocumentFault('invalid_data', message('ports.xml_list_in_list', { path }));
    const margin = this.#indent ? '  '.repeat(depth) : '';
    if (!isJsonObject(value) || isNumber(value)) {
      const text = textOf(value, path);
      this.lines.push(
        text === '' ? `${margin}<${name}/>` : `${margin}<${name}>${escapeText(text)}</${name}>`,
      );
      return;
    }
    const { attributes, text, children } = this.#parts(value, path);
    if (children.length === 0) {
      this.lines.push(
        text === '' ? `${margin}<${name}${attributes}/>` : `${margin}<${name}${attributes}>${text}</${name}>`,
      );
      return;
    }
    this.lines.push(`${margin}<${name}${attributes}>${text}`);
    for (const [child, content] of children) {
      const at = `${path}.${child}`;
      const each = isJsonArray(content) ? content : [content];
      for (const [index, item] of each.entries()) {
        this.element(child, item, isJsonArray(content) ? `${at}.${index}` : at, depth + 1);
      }
    }
    this.lines.push(`${margin}</${name}>`);
  }

  #parts(value: JsonObject, path: string) {
    const { attributePrefix, textName } = this.#names;
    const children: (readonly [string, JsonValue])[] = [];
    let attributes = '';
    let text = '';
    for (const [name, member = null] of Object.entries(value)) {
      const at = `${path}.${name}`;
      if (name === textName) text = escapeText(textOf(member, at));
      else if (attributePrefix !== '' && name.startsWith(attributePrefix)) {
        const attribute = name.slice(attributePrefix.length);
        checkName(attribute, at);
        if (member !== null) attributes += ` ${attribute}="${escapeAttribute(textOf(member, at))}"`;
      } else children.push([name, member]);
    }
    return { attributes, text, children };
  }
}

function checkName(name: string, path: string): void {
  if (!NAME.test(name))
    throw new DocumentFault('invalid_data', message('ports.xml_wrong_name', { name, path }));
}

function textOf(value: JsonValue, path: string): string {
  const text =
    value === null
      ? ''
      : typeof value === 'string'
        ? value
        : isNumber(value) || typeof value === 'boolean'
          ? stringifyJson(value)
          : null;
  if (text === null) throw new DocumentFault('invalid_data', message('ports.xml_not_text', { path }));
  if (NOT_IN_XML.test(text))
    throw new DocumentFault('invalid_data', message('ports.xml_wrong_character', { path }));
  return text;
}

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

function escapeText(text: string): string {
  return text.replace(/[&<>\r]/g, (character) => ESCAPES[character] ?? character);
}

function escapeAttribute(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, (character) => ESCAPES[character] ?? character);
}
