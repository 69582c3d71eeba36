import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { type AdminPages, isLostReader } from './pages.ts';

/** Which methods exist at which paths, as collected from the registered routes. */
export interface RouteTable {
  /** Methods of the path's routes, sorted; empty if it has none. */
  methodsAt(path: string): readonly string[];
}

/**
 * Watches route registration: refuses routes that don't declare who may call them, and records the methods of every path.
 * @param publicPages paths of pages whose routes come from plug-ins without declarations
 */
export function watchRoutes(app: FastifyInstance, publicPages: readonly string[]): RouteTable {
  const paths = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', (route) => {
    if (publicPages.some((page) => route.url === page || route.url.startsWith(`${page}/`)))
      route.config = { ...route.config, ...PAGE };
    refuseUndeclared(route);
    if (route.config?.byTrigger === true) return;
    const known = paths.get(route.url) ?? { pattern: toPattern(route.url), methods: new Set<string>() };
    for (const method of [route.method].flat()) known.methods.add(method);
    paths.set(route.url, known);
  });
  return {
    methodsAt(path) {
      const methods = [...paths.values()].flatMap((known) =>
        known.pattern.test(path) ? [...known.methods] : [],
      );
      return [...new Set(methods)].sort();
    },
  };
}

const PAGE = {
  public: true,
  produces: [
    'text/html',
    'text/css',
    'application/javascript',
    'application/json',
    'image/svg+xml',
    'image/png',
    'font/woff2',
  ],
} as const;

function refuseUndeclared(route: RouteOptions): void {
  const config = route.config ?? {};
  const declared = [config.scope !== undefined, config.admin !== undefined, config.public === true];
  if (declared.filter(Boolean).length !== 1) {
    throw new Error(
      `${String(route.method)} ${route.url} must declare one of config.scope, config.admin and config.public`,
    );
  }
}

function toPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part.startsWith(':')) return '[^/]+';
    return part === '*' ? '.*' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('/')}$`);
}

/**
 * Responds to a request no route matched: 404, or 405 with Allow if the path has other methods. OPTIONS returns the methods, except where a
 * secret in the path is the only authentication. A person who mistyped an address gets the 404 as a page.
 */
export function respondToUnmatched(
  table: RouteTable,
  pages: AdminPages | null,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? '';
  const methods = table.methodsAt(path);
  if (methods.length === 0 && pages !== null && isLostReader(request, path))
    return pages.send(reply.code(404), path);
  if (methods.length === 0) throw new ApiError('not_found', message('api.path_not_found'));
  const isReadable = methods.includes('GET');
  const allow = (request.method === 'OPTIONS' && isReadable ? [...methods, 'OPTIONS'] : methods).join(', ');
  if (request.method === 'OPTIONS' && isReadable) return reply.code(204).header('allow', allow).send();
  throw new ApiError('method_not_allowed', message('api.method_not_allowed', { methods: allow }), {
    headers: { allow },
  });
}

/**
 * Escapes the percent signs of a URL with invalid percent escapes: its ids then simply don't exist, instead of the router refusing it
 * differently from other impossible ids.
 */
export function mendUrl(url: string): string {
  const [path = '', ...query] = url.split('?');
  if (!path.includes('%')) return url;
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}
