import { Marked, type Tokens } from 'marked';
import { escapeHtml, textOfHtml } from '../html.ts';
import { GUIDES_PATH, type Guide, resolveLink } from './library.ts';

/** A part of a guide, from one heading to the next. */
export interface GuideSection {
  readonly id: string;
  readonly heading: string;
  /** Without markup, for searching. */
  readonly text: string;
  /** The text and the title of the guide in small letters, which every search looks at. */
  readonly searched: string;
}

/** A guide as HTML. */
export interface RenderedGuide {
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly sections: readonly GuideSection[];
}

/**
 * Renders a guide. What it contains is this project's own text, so its HTML is kept as it is.
 * @param known paths of all guides by their files
 */
export function renderGuide(guide: Guide, known: ReadonlyMap<string, string>): RenderedGuide {
  const ids = new Map<string, number>();
  const headings: { readonly id: string; readonly heading: string }[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading): string {
        const html = this.parser.parseInline(tokens);
        const heading = textOfHtml(html);
        const id = uniqueId(slugOf(heading), ids);
        headings.push({ id, heading });
        return `<h${depth} id="${id}">${html}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const text = this.parser.parseInline(tokens);
        const target = resolveLink(href, guide.file, known);
        return target === null ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
      },
      code(token: Tokens.Code): string {
        // The gallery draws the workflow itself.
        if (token.lang === 'mermaid') return '';
        return `<pre tabindex="0"><code>${escapeHtml(token.text)}</code></pre>\n`;
      },
      table(token: Tokens.Table): string {
        const row = (cells: readonly Tokens.TableCell[], tag: 'th' | 'td') =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
        // Wide tables scroll by themselves, also by keyboard.
        return `<div class="wide" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`;
      },
      html({ text }: Tokens.HTML | Tokens.Tag): string {
        return text.replaceAll(/(src|srcset)="images\//g, `$1="${GUIDES_PATH}/images/`);
      },
    },
  });
  const html = marked.parse(guide.markdown, { async: false });
  const title = headings[0]?.heading ?? guide.path;
  return { path: guide.path, title, html, sections: sectionsOf(title, html, headings) };
}

/** The ids GitHub gives to headings, so that links work there and here. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

function uniqueId(slug: string, taken: Map<string, number>): string {
  const count = taken.get(slug) ?? 0;
  taken.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

function sectionsOf(
  title: string,
  html: string,
  headings: readonly { readonly id: string; readonly heading: string }[],
): GuideSection[] {
  const parts = html.split(/<h[1-6] id="[^"]*">/).slice(1);
  return headings.map((heading, index) => {
    const text = textOfHtml(parts[index] ?? '');
    return { ...heading, text, searched: `${title} ${text}`.toLowerCase() };
  });
}
