import { escapeHtml } from '../html.ts';
import { CONTENTS, GUIDES_PATH } from './library.ts';
import type { RenderedGuide } from './render.ts';
import type { Found } from './search.ts';

export const STYLE_PATH = `${GUIDES_PATH}/style.css`;

/** Runs nothing, loads only its style sheet and images, and its search can only be submitted to this origin. */
export const GUIDES_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A guide with the contents beside it. */
export function guidePage(guide: RenderedGuide, guides: readonly RenderedGuide[]): string {
  return page(guide.title, guides, guide.path, `<article>${guide.html}</article>`);
}

/** The start page: everything there is, with what each guide is about. */
export function contentsPage(guides: readonly RenderedGuide[]): string {
  const lists = CONTENTS.map(
    ({ title, guides: names }) => `<h2>${title}</h2><ul>${itemsOf(names, guides, null)}</ul>`,
  );
  return page('Documentation', guides, null, `<h1>Documentation</h1>${lists.join('')}`);
}

/** What a search found. */
export function foundPage(query: string, found: readonly Found[], guides: readonly RenderedGuide[]): string {
  const items = found.map(
    ({ guide, id, heading, excerpt }) =>
      `<li><a href="${GUIDES_PATH}/${guide.path}#${id}">${escapeHtml(
        heading === guide.title ? heading : `${guide.title}: ${heading}`,
      )}</a><p>${escapeHtml(excerpt)}</p></li>`,
  );
  const list =
    items.length === 0
      ? '<p>Nothing contains all of these words. Try fewer of them.</p>'
      : `<ul class="found">${items.join('')}</ul>`;
  return page(`Search: ${query}`, guides, null, `<h1>Search</h1>${list}`, query);
}

function page(
  title: string,
  guides: readonly RenderedGuide[],
  current: string | null,
  main: string,
  query = '',
): string {
  const groups = CONTENTS.map(
    ({ title: name, guides: names }) => `<p>${name}</p><ul>${itemsOf(names, guides, current)}</ul>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Millrace</title>
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="home" href="${GUIDES_PATH}">Millrace documentation</a>
<form role="search" action="${GUIDES_PATH}">
<input type="search" name="q" aria-label="Search the documentation" placeholder="Search" maxlength="200" value="${escapeHtml(query)}">
<button>Search</button>
</form>
<a href="/docs/">API reference</a>
<a href="/">Admin area</a>
</header>
<div class="columns">
<details class="contents"><summary>Contents</summary><nav aria-label="Contents">${groups.join('')}</nav></details>
<nav class="beside" aria-label="All guides">${groups.join('')}</nav>
<main id="content" tabindex="-1">
${main}
</main>
</div>
</body>
</html>
`;
}

function itemsOf(names: readonly string[], guides: readonly RenderedGuide[], current: string | null): string {
  return names
    .map((name) => {
      const title = guides.find(({ path }) => path === name)?.title ?? name;
      const isHere = name === current ? ' aria-current="page"' : '';
      return `<li><a href="${GUIDES_PATH}/${name}"${isHere}>${escapeHtml(title)}</a></li>`;
    })
    .join('');
}
