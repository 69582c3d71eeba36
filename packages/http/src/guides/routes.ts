import { setImmediate } from 'node:timers/promises';
import { loadOnce } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { prepareStaticBody, type StaticBody, sendStaticBody } from '../static-body.ts';
import { GUIDES_PATH, type GuideImage, readGuides, readImages } from './library.ts';
import { contentsPage, foundPage, GUIDES_POLICY, guidePage, STYLE_PATH } from './page.ts';
import { type RenderedGuide, renderGuide } from './render.ts';
import { searchGuides } from './search.ts';
import { STYLE } from './style.ts';

const HTML = 'text/html; charset=utf-8';
/** Each visit asks whether the page has changed: an update of the service may change it. */
const ASK_AGAIN = 'no-cache';

/** Read when somebody first reads a guide, and shared by all services of this process: the files never change. */
const guides = loadOnce(async (): Promise<readonly RenderedGuide[]> => {
  const all = await readGuides();
  const known = new Map(all.map(({ file, path }) => [file, path]));
  const rendered: RenderedGuide[] = [];
  for (const guide of all) {
    rendered.push(renderGuide(guide, known));
    // Requests are served between two guides.
    await setImmediate();
  }
  return rendered;
});
const images = loadOnce(readImages);
const style = loadOnce(() => prepareStaticBody('text/css; charset=utf-8', STYLE));
const pages = new Map<string, () => Promise<StaticBody>>();

/** Serves the documentation of this version, so that it can be read without another network. */
export function addGuides(app: FastifyInstance): void {
  const schema = { hide: true } as const;
  app.register(async (scope) => {
    scope.get(STYLE_PATH, { schema }, async (request, reply) => {
      reply.header('cache-control', ASK_AGAIN);
      return sendStaticBody(request, reply, await style());
    });
    scope.get(`${GUIDES_PATH}/images/:name`, { schema }, async (request, reply) => {
      const { content } = findBy(await images(), (image: GuideImage) => image.name, nameOf(request));
      return reply.type('image/png').header('cache-control', 'public, max-age=3600').send(content);
    });
    scope.get(GUIDES_PATH, { schema }, async (request, reply) => {
      const { q: query } = request.query as { readonly q?: unknown };
      if (typeof query !== 'string' || query.trim() === '') {
        return sendPage(request, reply, '', async () => contentsPage(await guides()));
      }
      const all = await guides();
      const html = foundPage(query, searchGuides(all, query), all);
      return asPage(reply).header('cache-control', 'no-store').type(HTML).serializer(String).send(html);
    });
    for (const folder of ['', 'examples/', 'adr/']) {
      scope.get(`${GUIDES_PATH}/${folder}:name`, { schema }, async (request, reply) => {
        const path = `${folder}${nameOf(request)}`;
        const all = await guides();
        const guide = findBy(all, (each: RenderedGuide) => each.path, path);
        return sendPage(request, reply, path, () => guidePage(guide, all));
      });
    }
  });
}

/** @param path of an existing page, by which it is kept */
async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  render: () => string | Promise<string>,
): Promise<FastifyReply> {
  const load = pages.get(path) ?? loadOnce(async () => prepareStaticBody(HTML, await render()));
  pages.set(path, load);
  return sendStaticBody(request, asPage(reply).header('cache-control', ASK_AGAIN), await load());
}

function asPage(reply: FastifyReply): FastifyReply {
  return reply.header('content-security-policy', GUIDES_POLICY);
}

function nameOf(request: FastifyRequest): string {
  return (request.params as { readonly name: string }).name;
}

/** @throws ApiError `not_found` */
function findBy<T>(items: readonly T[], keyOf: (item: T) => string, key: string): T {
  const found = items.find((item) => keyOf(item) === key);
  if (found === undefined) throw new ApiError('not_found', message('api.path_not_found'));
  return found;
}
