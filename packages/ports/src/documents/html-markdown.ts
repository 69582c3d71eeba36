import { own } from '@millrace/engine';
import { type Document, type Element, isTag, isText, type ParentNode } from 'domhandler';
import { completeUrl, isBlock, isHidden } from './tree.ts';

/**
 * Markdown (CommonMark with tables and strikethrough) for a part of a page. Text that would be Markdown is escaped; what Markdown can't say
 * becomes its text.
 */
export function htmlToMarkdown(start: Document | Element, baseUrl: string | null): string {
  return joinBlocks(new Writer(baseUrl).blocksIn(start));
}

/** Blocks are apart by an empty line. */
function joinBlocks(blocks: readonly string[]): string {
  return blocks.filter((block) => block !== '').join('\n\n');
}

/** Marks around text, by element. */
const MARKS: { readonly [name: string]: string } = {
  strong: '**',
  b: '**',
  em: '_',
  i: '_',
  del: '~~',
  s: '~~',
  strike: '~~',
};
/** A line break in text that is still one line. */
const BREAK = '\u0000';

class Writer {
  readonly #baseUrl: string | null;

  constructor(baseUrl: string | null) {
    this.#baseUrl = baseUrl;
  }

  /** What is between blocks is a paragraph. */
  blocksIn(parent: ParentNode): string[] {
    const blocks: string[] = [];
    let inline: string[] = [];
    const endParagraph = (): void => {
      blocks.push(this.#paragraph(inline.join('')));
      inline = [];
    };
    for (const node of parent.children) {
      if (isTag(node) && !isHidden(node) && (isBlock(node) || hasBlock(node))) {
        endParagraph();
        blocks.push(...this.#block(node));
      } else {
        inline.push(this.#inlineNode(node));
      }
    }
    endParagraph();
    return blocks;
  }

  #paragraph(text: string): string {
    const lines = collapse(text).split(BREAK);
    return lines
      .map((line) => escapeLineStart(line.trim()))
      .join('  \n')
      .trim();
  }

  #block(element: Element): string[] {
    const heading = /^h([1-6])$/.exec(element.name);
    if (heading !== null) {
      const text = this.#line(element);
      return text === '' ? [] : [`${'#'.repeat(Number(heading[1]))} ${text}`];
    }
    switch (element.name) {
      case 'hr':
        return ['---'];
      case 'a':
        return [this.#paragraph(this.#link(element))];
      case 'pre':
        return [fenced(element)];
      case 'blockquote':
        return [prefixed(joinBlocks(this.blocksIn(element)), '> ', '> ')];
      case 'ul':
      case 'ol':
      case 'menu':
        return [this.#list(element)];
      case 'table':
        return this.#table(element);
      default:
        return this.blocksIn(element);
    }
  }

  #list(list: Element): string {
    const isOrdered = list.name === 'ol';
    const start = Number.parseInt(list.attribs.start ?? '1', 10);
    const first = Number.isSafeInteger(start) && start >= 0 ? start : 1;
    const items = list.children.filter(isTag).filter((child) => !isHidden(child));
    return items
      .map((item, index) => {
        const mark = isOrdered ? `${first + index}. ` : '- ';
        const blocks = item.name === 'li' ? this.blocksIn(item) : this.#block(item);
        const isTight = item.children.every((child) => !isTag(child) || child.name !== 'p');
        const text = isTight ? blocks.filter((block) => block !== '').join('\n') : joinBlocks(blocks);
        return prefixed(text, mark, ' '.repeat(mark.length));
      })
      .join('\n');
  }

  /** Only tables of data; those with one column are layout. */
  #table(table: Element): string[] {
    const rows = rowsOf(table);
    const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
    if (width < 2 || rows.some((row) => row.some(hasTable))) return this.blocksIn(table);
    const lines = rows.map((row) => {
      const cells = Array.from({ length: width }, (_, column) => {
        const cell = row[column];
        return cell === undefined ? '' : this.#line(cell).replaceAll('|', '\\|');
      });
      return `| ${cells.join(' | ')} |`;
    });
    const [head = '', ...body] = lines;
    return [[head, `|${' --- |'.repeat(width)}`, ...body].join('\n')];
  }

  /** All of it on one line. */
  #line(parent: ParentNode): string {
    return collapse(this.#inline(parent)).replaceAll(BREAK, ' ').trim();
  }

  #inline(parent: ParentNode): string {
    return parent.children.map((node) => this.#inlineNode(node)).join('');
  }

  #inlineNode(node: ParentNode['children'][number]): string {
    if (isText(node)) return escapeText(node.data);
    if (!isTag(node) || isHidden(node)) return '';
    switch (node.name) {
      case 'br':
        return BREAK;
      case 'a':
        return this.#link(node);
      case 'img':
        return this.#image(node);
      case 'code':
      case 'kbd':
      case 'samp':
        return codeSpan(node);
      default: {
        const text = this.#inline(node);
        const mark = own(MARKS, node.name) ?? '';
        return isBlock(node) ? ` ${text} ` : marked(text, mark);
      }
    }
  }

  #link(element: Element): string {
    const text = collapse(this.#inline(element));
    const address = this.#address(element.attribs.href);
    if (address === '' || text.trim() === '') return text;
    return aroundWords(text.replaceAll(BREAK, ' '), (words) => `[${words}](${address}${titleOf(element)})`);
  }

  #image(element: Element): string {
    const address = this.#address(element.attribs.src);
    const alternative = escapeText(collapse(element.attribs.alt ?? ''));
    return address === '' ? alternative : `![${alternative}](${address}${titleOf(element)})`;
  }

  /** Empty for what would run a script. */
  #address(value: string | undefined): string {
    const address = completeUrl(value ?? '', this.#baseUrl);
    if (/^(?:javascript|vbscript|data):/i.test(address.replace(/[\s\p{Cc}]/gu, ''))) return '';
    return /[\s()<>]/.test(address) ? `<${address.replace(/[\r\n<>]/g, encodeURIComponent)}>` : address;
  }
}

function titleOf({ attribs }: Element): string {
  const title = collapse(attribs.title ?? '').trim();
  return title === '' ? '' : ` "${title.replace(/["\\]/g, '\\$&')}"`;
}

/** By element: what is around it asks again. */
const withBlocks = new WeakMap<Element, boolean>();

function hasBlock(element: Element): boolean {
  const known = withBlocks.get(element);
  if (known !== undefined) return known;
  const found = element.children.some(
    (child) => isTag(child) && !isHidden(child) && (isBlock(child) || hasBlock(child)),
  );
  withBlocks.set(element, found);
  return found;
}

function hasTable(element: Element): boolean {
  return element.children.some((child) => isTag(child) && (child.name === 'table' || hasTable(child)));
}

function rowsOf(table: Element): Element[][] {
  return table.children.filter(isTag).flatMap((child) => {
    if (child.name === 'tr') {
      return [child.children.filter(isTag).filter(({ name }) => name === 'td' || name === 'th')];
    }
    return /^t(?:head|body|foot)$/.test(child.name) ? rowsOf(child) : [];
  });
}

function collapse(text: string): string {
  return text.replace(/[ \t\r\n\f]+/g, ' ');
}

/** Marks must touch a word: white space goes outside. */
function marked(text: string, mark: string): string {
  if (mark === '') return text;
  return aroundWords(collapse(text), (words) => `${mark}${words}${mark}`);
}

function aroundWords(text: string, wrap: (words: string) => string): string {
  const words = text.trim();
  if (words === '') return text;
  const start = text.indexOf(words);
  return `${text.slice(0, start)}${wrap(words)}${text.slice(start + words.length)}`;
}

function escapeText(text: string): string {
  return text.replaceAll(BREAK, '').replace(/[\\`*_[\]<>]|~~|&(?=#?\w+;)/g, '\\$&');
}

/** What begins a heading, a list, a quote or a rule there. */
function escapeLineStart(line: string): string {
  return line
    .replace(/^(?:#{1,6}(?=\s)|[-+](?=\s|$)|-{3,}\s*$|={2,}\s*$)/, '\\$&')
    .replace(/^(\d{1,9})([.)])(?=\s)/, '$1\\$2');
}

function codeSpan(element: Element): string {
  const text = collapse(textIn(element));
  if (text.trim() === '') return text;
  const mark = '`'.repeat(longestRun(text) + 1);
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${mark}${space}${text}${space}${mark}`;
}

function fenced(element: Element): string {
  const text = textIn(element).replace(/^\n/, '').trimEnd();
  const [code] = element.children.filter(isTag);
  const language = /(?:^|\s)(?:language|lang)-([\w+#.-]+)/.exec(
    `${code?.attribs.class ?? ''} ${element.attribs.class ?? ''}`,
  )?.[1];
  const mark = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${mark}${language ?? ''}\n${text}\n${mark}`;
}

function longestRun(text: string): number {
  return [...text.matchAll(/`+/g)].reduce((longest, [run]) => Math.max(longest, run.length), 0);
}

function textIn(parent: ParentNode): string {
  return parent.children
    .map((node) => (isText(node) ? node.data : isTag(node) ? (node.name === 'br' ? '\n' : textIn(node)) : ''))
    .join('');
}

function prefixed(text: string, first: string, others: string): string {
  return text
    .split('\n')
    .map((line, index) => `${index === 0 ? first : others}${line}`.trimEnd())
    .join('\n');
}
