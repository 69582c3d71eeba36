import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { ApiError } from '../errors.ts';

/** Which methods exist at which paths, as collected from the registered routes. */
export interface RouteTable {
  /** Methods of the path's routes, sorted; empty when nothing is there. */
  methodsAt(path: string): readonly string[];
}

/**
 * Watches the registration of routes: refuses one that declares neither a scope nor `public`, and remembers the
 * methods of every path.
 * @param publicPages path of the pages whose routes come from a plug-in that knows of no declaration
 */
export function watchRoutes(app: FastifyInstance, publicPages: string): RouteTable {
  const paths = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', (route) => {
    if (route.url === publicPages || route.url.startsWith(`${publicPages}/`))
      route.config = { ...route.config, ...PAGE };
    refuseUndeclared(route);
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

const PAGE = { public: true, produces: ['text/html', 'application/javascript', 'application/json'] } as const;

function refuseUndeclared(route: RouteOptions): void {
  const config = route.config ?? {};
  if ((config.scope !== undefined) === (config.public === true)) {
    throw new Error(`${String(route.method)} ${route.url} must declare either config.scope or config.public`);
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
 * Answers a request no route matched: 404, or 405 with Allow when the path has other methods. OPTIONS tells the
 * methods, except where a secret in the path is all that authenticates.
 */
export function answerUnmatched(
  table: RouteTable,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? '';
  const methods = table.methodsAt(path);
  if (methods.length === 0) throw new ApiError('not_found', 'There is nothing at this path.');
  const isReadable = methods.includes('GET');
  const allow = (request.method === 'OPTIONS' && isReadable ? [...methods, 'OPTIONS'] : methods).join(', ');
  if (request.method === 'OPTIONS' && isReadable) return reply.code(204).header('allow', allow).send();
  throw new ApiError('method_not_allowed', `This path takes ${allow}.`, { headers: { allow } });
}

/**
 * A URL whose percent escapes stand for no text, with its percent signs escaped: its ids then simply do not exist,
 * instead of the router refusing it in another way than other impossible ids.
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
