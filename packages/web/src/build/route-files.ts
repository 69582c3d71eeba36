/** A page of the router, and the module that it loads. */
export interface RouteModule {
  /** With `$name` where any segment fits. */
  readonly path: string;
  /** As the router imports it. */
  readonly module: string;
  /** What it shows below its heading, loaded on its own. */
  readonly part?: string;
}

/** Files of a page. */
export interface PageFiles {
  /** Besides what every page loads. */
  readonly files: readonly string[];
  /** Texts for Japanese readers, those of every page included. */
  readonly japanese: readonly string[];
}

/** What the first view of a page loads. */
export interface FirstFiles extends PageFiles {
  /** What comes after its heading. */
  readonly later: PageFiles;
}

/** What the build knows of a file. */
interface Chunk {
  readonly fileName: string;
  /** The module that it was made for, if it is loaded on its own. */
  readonly facadeModuleId: string | null;
  /** Files that must be there before it runs. */
  readonly imports: readonly string[];
  /** Files that it may load when it runs. */
  readonly dynamicImports: readonly string[];
  readonly css: readonly string[];
}

/** The frame around the pages of an organisation. */
const FRAME = './shell/shell.tsx';
const ORGANISATION = '/o/$org/';
const WORKFLOW = '/o/$org/workflows/$id';
const EDITOR = '@millrace/workflow-pages/editor/';

/** Whatever has texts loads the Japanese ones as soon as it runs, before it shows anything. */
const JAPANESE = /\/packages\/ui\/src\/i18n\/ja-[a-z]+\.ts$/;

/** The pages in the source of the router. */
export function listRoutes(router: string): RouteModule[] {
  return router.split('createRoute({').flatMap((route) => {
    const path = /\.\.\.(inOrg|outside),\s*path: '([^']+)'/.exec(route);
    const module = /import\(\s*'([^']+)'/.exec(route);
    if (path === null || module === null) return [];
    const [, parent, own = ''] = path;
    return [{ path: parent === 'inOrg' ? ORGANISATION + own : own, module: module[1] ?? '' }];
  });
}

/** The tabs of a workflow beside the editor, in the source that loads them. To the router they are one page. */
export function listTabs(source: string): RouteModule[] {
  return [...source.matchAll(/^ {2}(\w+): \(\) => import\('([^']+)'\)/gm)].map(([, tab = '', part = '']) => ({
    path: `${WORKFLOW}/${tab}`,
    module: `${EDITOR}editor-page.tsx`,
    part: part.replace(/^\.\//, EDITOR),
  }));
}

/**
 * What the first view of each page loads, by the page's path: the browser can fetch it at once, instead of after the first scripts have run.
 * @param entry the file that every page loads
 */
export function listRouteFiles(
  routes: readonly RouteModule[],
  chunks: readonly Chunk[],
  entry: string,
): { readonly [path: string]: FirstFiles } {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const filesOfAll = (modules: readonly string[]) =>
    new Set(modules.flatMap((name) => [...filesOf(findChunk(chunks, name), byName)]));
  const first = filesOf(byName.get(entry), byName);
  return Object.fromEntries(
    routes.map(({ path, module, part }) => {
      const files = filesOfAll(path.startsWith(ORGANISATION) ? [FRAME, module] : [module]).difference(first);
      const japanese = listJapanese(first.union(files), byName);
      const all = filesOfAll(part === undefined ? [] : [part]);
      const later = all.difference(first).difference(files);
      const laterJapanese = listJapanese(later, byName).difference(japanese);
      return [
        path,
        {
          files: [...files],
          japanese: [...japanese],
          later: { files: [...later], japanese: [...laterJapanese] },
        },
      ];
    }),
  );
}

/** The Japanese texts that come with these files. */
function listJapanese(files: ReadonlySet<string>, byName: ReadonlyMap<string, Chunk>): Set<string> {
  const loaded = [...files].flatMap((file) => byName.get(file)?.dynamicImports ?? []);
  const texts = loaded.flatMap((file) => {
    const chunk = byName.get(file);
    return JAPANESE.test(chunk?.facadeModuleId ?? '') ? [...filesOf(chunk, byName)] : [];
  });
  return new Set(texts).difference(files);
}

/** @throws Error if a page's module isn't loaded on its own */
function findChunk(chunks: readonly Chunk[], module: string): Chunk {
  const end = module.replace(/^\.\//, 'web/src/').replace(/^@millrace\/([^/]+)\//, '$1/src/');
  const found = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/packages/${end}`));
  if (found === undefined) throw new Error(`the build has no file for ${module}`);
  return found;
}

/** A file, everything that it imports, and their style sheets. */
function filesOf(chunk: Chunk | undefined, byName: ReadonlyMap<string, Chunk>): Set<string> {
  const found = new Set<string>();
  const open = chunk === undefined ? [] : [chunk];
  for (const each of open) {
    if (found.has(each.fileName)) continue;
    found.add(each.fileName);
    for (const style of each.css) found.add(style);
    open.push(...each.imports.flatMap((name) => byName.get(name) ?? []));
  }
  return found;
}
