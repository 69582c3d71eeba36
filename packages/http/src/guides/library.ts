import { readdir, readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the documentation is served. */
export const GUIDES_PATH = '/docs/guides';

const DOCS = fileURLToPath(new URL('../../../../docs', import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../../../../examples', import.meta.url));

/** The documentation in the order to read it, by the names of its files. A test compares it with the folder. */
export const CONTENTS: readonly { readonly title: string; readonly guides: readonly string[] }[] = [
  {
    title: 'Building workflows',
    guides: ['editor', 'examples', 'triggers', 'templates', 'nodes', 'workflows'],
  },
  {
    title: 'Reaching other services',
    guides: ['credentials', 'connectors', 'own-connectors', 'reaching-out', 'ai', 'outbound', 'import'],
  },
  { title: 'Watching and calling', guides: ['executions', 'api', 'cli'] },
  {
    title: 'Running the service',
    guides: [
      'administration',
      'accounts',
      'configuration',
      'operations',
      'monitoring',
      'reliability',
      'performance',
    ],
  },
  { title: 'Contributing', guides: ['translating'] },
];

/** A page of the documentation. */
export interface Guide {
  /** Its path below {@link GUIDES_PATH}. */
  readonly path: string;
  /** Its file, relative to the root of the repository. */
  readonly file: string;
  readonly markdown: string;
}

/** An image that guides show. */
export interface GuideImage {
  readonly name: string;
  readonly content: Buffer;
}

/** Reads every guide: the documentation, the READMEs of the examples, and the decisions that both refer to. */
export async function readGuides(): Promise<Guide[]> {
  const [guides, decisions, examples] = await Promise.all([
    readFolder(DOCS, 'docs', ''),
    readFolder(`${DOCS}/adr`, 'docs/adr', 'adr/'),
    readExamples(),
  ]);
  return [...guides, ...examples, ...decisions];
}

export async function readImages(): Promise<GuideImage[]> {
  const names = (await readdir(`${DOCS}/images`)).filter((name) => name.endsWith('.png'));
  return Promise.all(
    names.map(async (name) => ({ name, content: await readFile(`${DOCS}/images/${name}`) })),
  );
}

async function readFolder(folder: string, shownAs: string, prefix: string): Promise<Guide[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md')).sort();
  return Promise.all(
    names.map(async (name) => ({
      path: prefix + posix.basename(name, '.md'),
      file: `${shownAs}/${name}`,
      markdown: await readFile(`${folder}/${name}`, 'utf8'),
    })),
  );
}

async function readExamples(): Promise<Guide[]> {
  const entries = await readdir(EXAMPLES, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => ({
      path: `examples/${name}`,
      file: `examples/${name}/README.md`,
      markdown: await readFile(`${EXAMPLES}/${name}/README.md`, 'utf8'),
    })),
  );
}

/**
 * Where a link in a guide leads: to another guide, to its own address if it is a complete URL, or null if it leads to a file that isn't served.
 * @param file where the link is, relative to the root of the repository
 * @param known paths of guides by their files
 */
export function resolveLink(href: string, file: string, known: ReadonlyMap<string, string>): string | null {
  if (/^https?:\/\//.test(href) || href.startsWith('#')) return href;
  const [path = '', fragment] = href.split('#');
  const target = posix.join(posix.dirname(file), path).replace(/\/$/, '');
  const found = known.get(target) ?? known.get(`${target}/README.md`);
  if (found === undefined) return target === 'examples' ? `${GUIDES_PATH}/examples` : null;
  return `${GUIDES_PATH}/${found}${fragment === undefined ? '' : `#${fragment}`}`;
}
