import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { guideTo } from './guides.ts';
import { ADMINISTRATION_ITEMS, WORK_ITEMS } from './navigation-items.ts';

const DOCS = fileURLToPath(new URL('../../../../docs', import.meta.url));

test.each([...WORK_ITEMS, ...ADMINISTRATION_ITEMS])('the page $name has a guide', ({ path }) => {
  const guide = guideTo(`/o/1/${path}/7`) ?? '';
  const [name = '', section] = guide.replace('/docs/guides/', '').split('#');
  const text = readFileSync(`${DOCS}/${name}.md`, 'utf8');
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
  if (section !== undefined) expect(headings).toContain(section);
});

test('a page without a guide of its own has none', () => {
  expect(guideTo('/account')).toBeNull();
});
