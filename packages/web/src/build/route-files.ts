/** A page of the router, and the module that it loads. */
export interface RouteModule {
  /** With `$name` where any segment fits. */
  readonly path: string;
  /** As the router imports it. */
  readonly module: string;
}

/** What the build knows of a file. */
interface Chunk {
  readonly fileName: string;
  /** The module that it was made for, if it is loaded on its own. */
  readonly facadeModuleId: string | null;
  /** Files that must be there before it runs. */
  readonly imports: readonly string[];
  readonly css: readonly string[];
}

/** The frame around the pages of an organisation. */
const FRAME = './shell/shell.tsx';
const ORGANISATION = '/o/$org/';

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

/**
 * What the first view of each page loads besides what every page loads, by the page's path: the browser can fetch it at once, instead of after the
 * first scripts have run.
 * @param entry the file that every page loads
 */
export function listRouteFiles(
  routes: readonly RouteModule[],
  chunks: readonly Chunk[],
  entry: string,
): { readonly [path: string]: readonly string[] } {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const first = filesOf(byName.get(entry), byName);
  return Object.fromEntries(
    routes.map(({ path, module }) => {
      const modules = path.startsWith(ORGANISATION) ? [FRAME, module] : [module];
      const files = modules.flatMap((name) => [...filesOf(findChunk(chunks, name), byName)]);
      return [path, [...new Set(files)].filter((file) => !first.has(file))];
    }),
  );
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
