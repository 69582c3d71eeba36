import { message } from '@millrace/messages';
import { type Document, DomHandler, type Element, isTag, isText, type ParentNode } from 'domhandler';
import { Parser } from 'htmlparser2';
import { DocumentFault } from './fault.ts';

/** Browsers stop nesting at 512; with more, selectors and output take quadratic time. */
export const MAX_DEPTH = 512;
/** Of a few hundred bytes each. */
const MAX_NODES = 500_000;

/** Builds a tree of bounded size. */
class BoundedHandler extends DomHandler {
  #nodes = 0;

  override onopentag(name: string, attributes: { [name: string]: string }): void {
    if (this.tagStack.length > MAX_DEPTH) {
      throw new DocumentFault('document_too_complex', message('ports.document_too_deep', { max: MAX_DEPTH }));
    }
    this.#count();
    super.onopentag(name, attributes);
  }

  override ontext(data: string): void {
    this.#count();
    super.ontext(data);
  }

  override oncomment(data: string): void {
    this.#count();
    super.oncomment(data);
  }

  #count(): void {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES) {
      throw new DocumentFault('document_too_complex', message('ports.document_too_many', { max: MAX_NODES }));
    }
  }
}

/**
 * Reads HTML as browsers do, or XML leniently. No entity but those of HTML or XML itself is known, and nothing is fetched.
 * @throws DocumentFault document_too_complex
 */
export function readTree(text: string, mode: 'html' | 'xml'): Document {
  const xmlMode = mode === 'xml';
  const handler = new BoundedHandler(null, { xmlMode });
  const parser = new Parser(handler, { xmlMode });
  parser.write(text);
  parser.end();
  return handler.root;
}

/** Elements that start and end a line of their own. */
const BLOCKS = new Set(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
);
/** Elements whose content isn't shown. */
const HIDDEN = new Set(
  'script style noscript template head title meta link iframe object svg math'.split(' '),
);

export function isBlock({ name }: Element): boolean {
  return BLOCKS.has(name);
}

export function isHidden({ name }: Element): boolean {
  return HIDDEN.has(name);
}

/** Text as a reader sees it: white space collapsed, blocks on lines of their own, scripts and styles left out. */
export function visibleText(start: ParentNode): string {
  const lines = new Lines();
  writeText(start, lines);
  return lines.toString();
}

/** Lines of text that are being written. */
class Lines {
  readonly #lines: string[] = [];
  #parts: string[] = [];
  #endsWithSpace = true;

  add(text: string): void {
    const collapsed = text.replace(/[ \t\r\n\f]+/g, ' ');
    const rest = this.#endsWithSpace && collapsed.startsWith(' ') ? collapsed.slice(1) : collapsed;
    if (rest === '') return;
    this.#parts.push(rest);
    this.#endsWithSpace = rest.endsWith(' ');
  }

  addAsItIs(text: string): void {
    const [first = '', ...others] = text.split(/\r?\n/);
    this.#parts.push(first);
    for (const line of others) {
      this.breakLine();
      this.#parts.push(line);
    }
    this.#endsWithSpace = false;
  }

  /** Ends the line if there is something on it. */
  endLine(): void {
    if (this.#parts.length > 0) this.breakLine();
  }

  breakLine(): void {
    this.#lines.push(this.#parts.join('').trimEnd());
    this.#parts = [];
    this.#endsWithSpace = true;
  }

  toString(): string {
    this.endLine();
    return this.#lines.join('\n').trim();
  }
}

function writeText(parent: ParentNode, lines: Lines, isVerbatim = false): void {
  for (const node of parent.children) {
    if (isText(node)) {
      if (isVerbatim) lines.addAsItIs(node.data);
      else lines.add(node.data);
    }
    if (!isTag(node) || isHidden(node)) continue;
    if (node.name === 'br') lines.breakLine();
    else if (node.name === 'td' || node.name === 'th') {
      lines.add(' ');
      writeText(node, lines, isVerbatim);
    } else if (isBlock(node)) {
      lines.endLine();
      writeText(node, lines, isVerbatim || node.name === 'pre');
      lines.endLine();
    } else writeText(node, lines, isVerbatim || node.name === 'textarea');
  }
}

/** An address of the page, complete if the page's own address is known. */
export function completeUrl(address: string, baseUrl: string | null): string {
  const trimmed = address.trim();
  if (baseUrl === null || trimmed === '') return trimmed;
  return URL.parse(trimmed, baseUrl)?.href ?? trimmed;
}
