import MarkdownIt from 'markdown-it';

/** Deeper lists and quotes are text: each level is read again by the one around it. */
const MAX_NESTING = 50;

/**
 * Markdown (CommonMark with tables and strikethrough) as HTML. Unless `rawHtml` is set, HTML in the text is shown as text, and links
 * that run a script or contain data stay text, so that a stranger's text can be put into a page or a mail.
 */
export function markdownToHtml(
  text: string,
  { rawHtml, lineBreaks }: { readonly rawHtml: boolean; readonly lineBreaks: boolean },
): string {
  const converter = new MarkdownIt('default', {
    html: rawHtml,
    breaks: lineBreaks,
    linkify: false,
    typographer: false,
    maxNesting: MAX_NESTING,
  });
  if (rawHtml) converter.validateLink = () => true;
  return converter.render(text);
}
