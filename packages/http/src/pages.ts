import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { DOCS_PATH } from './docs-page.ts';
import { accepts } from './negotiation.ts';

/** Paths handled by the web page's own router; every other unknown path is a 404. */
const PAGE_PATHS = [
  '/',
  '/setup',
  '/sign-in',
  '/invitation',
  '/account',
  '/account/*',
  '/system',
  '/system/*',
  '/o/:org',
  '/o/:org/*',
];
/** Scripts, style sheets and images. */
export const ASSETS_PATH = '/assets';
/** Paths used by programs, including common guesses for the API: never a mistyped page. */
const MACHINE_PATHS = ['/api', '/webhooks', '/healthz', '/readyz', DOCS_PATH, ASSETS_PATH];
/** The service handles these paths itself; anything else is the page or one of its files. */
export const SERVICE_PATHS: readonly string[] = MACHINE_PATHS.filter((path) => path !== ASSETS_PATH);
/** In index.html, replaced in every response: style sheets that libraries add at run time carry it. */
const NONCE_PLACEHOLDER = '__CSP_NONCE__';

/** The folder of the latest web page build; null if there is none. */
export function findWebPages(): string | null {
  const builds = fileURLToPath(new URL('../../web/dist', import.meta.url));
  const current = join(builds, 'current');
  return existsSync(current) ? join(builds, readFileSync(current, 'utf8')) : null;
}

/** The built admin area: one page whose scripts render the content for its address. */
export interface AdminPages {
  readonly folder: string;
  /** Sends the page for a path, with a policy that allows only its own scripts. Its head depends on the reader's language. */
  send(reply: FastifyReply, path: string): FastifyReply;
}

/** Reads the page; null without a folder. */
export function openAdminPages(folder: string | null): AdminPages | null {
  if (folder === null) return null;
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  const headOf = readFirstFiles(folder);
  return {
    folder,
    send(reply, path) {
      const nonce = randomBytes(16).toString('base64');
      const head = headOf(reply.request, path);
      return reply
        .header('content-security-policy', pagePolicy(nonce))
        .header('cache-control', 'no-store')
        .header('vary', 'accept-language, cookie')
        .type('text/html; charset=utf-8')
        .serializer((text: unknown) => text as string)
        .send(html.replace('</head>', `${head}</head>`).replaceAll(NONCE_PLACEHOLDER, nonce));
    },
  };
}

/** Of the page's texts. English ones come with the code. */
const LANGUAGES = ['en', 'ja'] as const;
type Language = (typeof LANGUAGES)[number];

/**
 * The one that the page will choose, unless its reader has chosen another one in this browser: then they have been here before, and it has the files.
 */
function languageOf({ headers }: FastifyRequest): Language {
  const [language = 'en'] = new Negotiator({ headers }).languages([...LANGUAGES]) as Language[];
  return language;
}

/** As the build writes them (`web/src/build/route-files.ts`). */
interface PageFiles {
  readonly files: readonly string[];
  readonly japanese: readonly string[];
}
type FirstFiles = Readonly<Record<string, PageFiles & { readonly later: PageFiles }>>;

/**
 * What the head says of a path: the files that its first view needs besides those of every page, so that the browser fetches all of them at
 * once. At a slow connection, each turn of asking and waiting is seen.
 */
function readFirstFiles(folder: string): (request: FastifyRequest, path: string) => string {
  const file = join(folder, 'first-files.json');
  const pages = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as FirstFiles) : {};
  const heads = Object.entries(pages).map(([path, { later, ...first }]) => {
    const linksFor = (language: Language) =>
      filesFor(first, language).map(linkTo).join('') +
      filesFor(later, language)
        .map((name) => linkTo(name).replace('>', ' fetchpriority="low">'))
        .join('');
    return {
      pattern: new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/]+')}/?$`),
      links: { en: linksFor('en'), ja: linksFor('ja') },
    };
  });
  return (request, path) => {
    const isSignedIn = SESSION.test(request.headers.cookie ?? '');
    const place = destinationOf(path, isSignedIn);
    const links = heads.find(({ pattern }) => pattern.test(place))?.links[languageOf(request)] ?? '';
    return (path === '/' ? STATE : '') + (place.startsWith('/o/') ? WHO : '') + links;
  };
}

const filesFor = ({ files, japanese }: PageFiles, language: Language) =>
  language === 'ja' ? [...files, ...japanese] : files;

/** The cookie of whoever is signed in, or was. */
const SESSION = /(?:^|; )(?:__Host-)?millrace_session=./;

/** Two addresses show nothing themselves: the page leads on to another one. */
function destinationOf(path: string, isSignedIn: boolean): string {
  if (path === '/') return isSignedIn ? '/o/any/workflows' : '/sign-in';
  return /^\/o\/[^/]+\/?$/.test(path) ? `${path.replace(/\/$/, '')}/workflows` : path;
}

/** The start page begins with asking whether there are accounts. */
const STATE = '<link rel="preload" as="fetch" crossorigin href="/api/admin/state">';
/** Pages of an organisation begin with asking who is signed in. */
const WHO = '<link rel="preload" as="fetch" crossorigin href="/api/admin/me">';

function linkTo(name: string): string {
  return name.endsWith('.css')
    ? `<link rel="preload" as="style" crossorigin href="/${name}">`
    : `<link rel="modulepreload" crossorigin href="/${name}">`;
}

/**
 * Whether a person rather than a program has opened an unknown address. Browsers send Sec-Fetch-Mode over https and to this machine only,
 * so the Accept header is checked as well.
 */
export function isLostReader({ method, headers }: FastifyRequest, path: string): boolean {
  const { accept = '', 'sec-fetch-mode': mode = 'navigate' } = headers;
  const namesPages = /\btext\/html\b/i.test(accept) && accepts(accept, 'text/html');
  if (method !== 'GET' || mode !== 'navigate' || !namesPages) return false;
  return !MACHINE_PATHS.some((known) => path === known || path.startsWith(`${known}/`));
}

export function addAdminPages(app: FastifyInstance, pages: AdminPages | null): void {
  const config = { public: true, produces: ['text/html'] } as const;
  const schema = { hide: true } as const;
  if (pages === null) {
    // The address that the start command prints must lead to a page.
    app.register(async (scope) => {
      scope.get('/', { config, schema }, (_request, reply) => reply.redirect(DOCS_PATH));
    });
    return;
  }
  app.register(async (scope) => {
    for (const path of PAGE_PATHS)
      scope.get(path, { config, schema }, ({ url }, reply) => pages.send(reply, pathOf(url)));
    scope.setErrorHandler((error) => {
      throw toAssetError(error);
    });
    const root = join(pages.folder, 'assets');
    await scope.register(fastifyStatic, {
      root,
      // A route for each of hundreds of files would take much of a service's start.
      serve: false,
      // The files are short, and invalid ranges would be one more error case.
      acceptRanges: false,
      // Their names contain a content hash.
      immutable: true,
      maxAge: '365d',
      index: false,
      preCompressed: true,
    });
    // Other paths are unknown, and none is looked up on disk.
    const files = new Set(await readdir(root, { recursive: true }));
    scope.get<{ Params: { '*': string } }>(`${ASSETS_PATH}/*`, { schema }, (request, reply) => {
      const { '*': name } = request.params;
      if (!files.has(name)) throw new ApiError('not_found', message('api.path_not_found'));
      return reply.sendFile(name);
    });
  });
}

/** A URL without its query. */
function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}

/** The plug-in's errors have a status but none of our codes. */
function toAssetError(error: unknown): unknown {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status === 412) return new ApiError('precondition_failed', message('api.file_changed'));
  return status >= 400 && status < 500 ? new ApiError('not_found', message('api.path_not_found')) : error;
}

/** What a page in development needs beyond its own files. */
interface Loosening {
  /** Inline scripts run if they have the nonce. */
  readonly inlineScripts: boolean;
  readonly connections: readonly string[];
}

/** The page's Content-Security-Policy. @param nonce of style sheets that are added at run time */
export function pagePolicy(
  nonce: string,
  { inlineScripts, connections }: Loosening = { inlineScripts: false, connections: [] },
): string {
  return [
    "default-src 'none'",
    `script-src 'self'${inlineScripts ? ` 'nonce-${nonce}'` : ''}`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    ["connect-src 'self'", ...connections].join(' '),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
