import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CONTENTS, GUIDES_PATH, type Guide, readGuides, resolveLink } from './library.ts';
import { guidePage } from './page.ts';
import { renderGuide, slugOf } from './render.ts';
import { searchGuides } from './search.ts';

const DOCS = fileURLToPath(new URL('../../../../docs', import.meta.url));

const KNOWN = new Map([
  ['docs/editor.md', 'editor'],
  ['docs/adr/0005-a.md', 'adr/0005-a'],
  ['examples/fan-out/README.md', 'examples/fan-out'],
]);

function render(markdown: string) {
  const guide: Guide = { path: 'editor', file: 'docs/editor.md', markdown };
  return renderGuide(guide, KNOWN);
}

test('the contents list every guide once', () => {
  const files = readdirSync(DOCS).filter((name) => name.endsWith('.md'));
  const listed = CONTENTS.flatMap(({ guides }) => guides.map((name) => `${name}.md`));
  expect([...listed].sort()).toEqual(files.sort());
});

describe('links', () => {
  test.each([
    ['editor.md#canvas', 'docs/api.md', `${GUIDES_PATH}/editor#canvas`],
    ['../../docs/editor.md', 'examples/fan-out/README.md', `${GUIDES_PATH}/editor`],
    ['../examples/fan-out', 'docs/examples.md', `${GUIDES_PATH}/examples/fan-out`],
    ['../examples/', 'docs/examples.md', `${GUIDES_PATH}/examples`],
    ['adr/0005-a.md', 'docs/api.md', `${GUIDES_PATH}/adr/0005-a`],
    ['#here', 'docs/api.md', '#here'],
    ['https://example.com/a.md', 'docs/api.md', 'https://example.com/a.md'],
    ['../deploy/Dockerfile', 'docs/operations.md', null],
    ['../../../etc/passwd', 'docs/operations.md', null],
  ])('%s in %s leads to %s', (href, file, target) => {
    expect(resolveLink(href, file, KNOWN)).toBe(target);
  });

  test('in every guide lead to a heading that exists', async () => {
    const guides = await readGuides();
    const known = new Map(guides.map(({ file, path }) => [file, path]));
    const rendered = guides.map((guide) => renderGuide(guide, known));
    const targets = new Set(
      rendered.flatMap(({ path, sections }) => [
        `${GUIDES_PATH}/${path}`,
        ...sections.map(({ id }) => `${GUIDES_PATH}/${path}#${id}`),
      ]),
    );
    const dead = rendered.flatMap(({ path, html }) =>
      [...html.matchAll(/href="(#[^"]*|\/[^"]*)"/g)]
        .map(([, href = '']) => (href.startsWith('#') ? `${GUIDES_PATH}/${path}${href}` : href))
        .filter((href) => !targets.has(href))
        .map((href) => `${path}: ${href}`),
    );
    expect(dead).toEqual([]);
    expect(targets.size).toBeGreaterThan(300);
  });
});

test('headings have the ids that links use', () => {
  expect(slugOf('Chat messages: Slack & others')).toBe('chat-messages-slack--others');
  expect(render('# A `b`\n\n## Same\n\n## Same').sections.map(({ id }) => id)).toEqual([
    'a-b',
    'same',
    'same-1',
  ]);
});

test('code is escaped, diagrams are left out, wide tables scroll by keyboard', () => {
  const { html } = render('```sh\necho "<b>"\n```\n\n```mermaid\ngraph LR\n```\n\n| a |\n|---|\n| `<i>` |');
  expect(html).toContain('echo &quot;&lt;b&gt;&quot;');
  expect(html).not.toContain('graph LR');
  expect(html).toMatch(/<div class="wide" tabindex="0"><table>.*<code>&lt;i&gt;<\/code>/s);
});

test('a page names the guide it shows in the contents', () => {
  const guide = render('# Building\n\nText');
  expect(guidePage(guide, [guide])).toContain(
    `<a href="${GUIDES_PATH}/editor" aria-current="page">Building</a>`,
  );
});

test('a search finds sections with all words, those with the words in their heading first', () => {
  const guides = [
    render('# Guide\n\nSome text.\n\n## First\n\nAbout retries of calls.\n\n## Retries\n\nCalls again.'),
  ];
  const found = searchGuides(guides, 'RETRIES calls');
  expect(found.map(({ id }) => id)).toEqual(['retries', 'first']);
  expect(found[1]?.excerpt).toBe('First About retries of calls.');
  expect(searchGuides(guides, 'retries nowhere')).toEqual([]);
  expect(searchGuides(guides, '   ')).toEqual([]);
});
