import type { ApiError } from '@millrace/errors/errors';
import { toApiError } from '@millrace/http/problem';
import { message } from '@millrace/messages';
import type { Starter } from '@millrace/service/executions/accept';
import { type FormOptions, MAX_TEXT } from '@millrace/triggers';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AddressDeps } from '../deps.ts';
import type { Entered } from '../pages/fields.ts';
import { saying, sendNotice, sendPage } from '../pages/hosted-page.ts';
import { logDefect, setHeaders } from '../pages/refusals.ts';
import { closeUnread, keepOrLeaveBodies } from '../webhooks/arriving.ts';
import { formPage, newToken } from './form-page.ts';
import { createFindForm, type FormCall } from './open-form.ts';
import { createSubmit, problemOf, type Showing } from './submit.ts';

/** Of what was entered: files are stored while they arrive. */
const MAX_FORM_BYTES = 10 * 1024 * 1024;

const CONFIG = { public: true, webhook: true, extension: true, produces: ['text/html'] } as const;

/** `/forms/{hash}`: the pages of forms, and what is submitted on them. For people, so excluded from the API description. */
export function formRoutes(app: FastifyInstance, deps: AddressDeps, starter: Starter): void {
  // In its own scope, because only here errors are pages.
  app.register(async (scope) => {
    keepOrLeaveBodies(scope);
    addForms(scope, deps, starter);
  });
}

function addForms(app: FastifyInstance, deps: AddressDeps, starter: Starter): void {
  const find = createFindForm(deps, starter);
  const submit = createSubmit({ deps, starter, find });
  const options = { config: CONFIG, schema: { hide: true } } as const;
  app.setErrorHandler<Error, FormCall>(async (error, request, reply) => {
    const refused = toApiError(error, request);
    closeUnread(request, reply);
    // The only one that visitors meet by filling in the form, so a frame has to show it as well.
    const form = refused.status === 413 ? await find(request).catch(() => null) : null;
    const frames = form === null || form === 'unfinished' ? [] : form.options.allowed_origins;
    return sendError(refused, request, reply, frames);
  });

  // The first form of a workflow, and each one by its node.
  for (const path of ['/api/v1/forms/:hash', '/api/v1/forms/:hash/nodes/:node']) {
    app.get<FormCall>(path, options, async (request, reply) => {
      const form = await find(request);
      if (form === null || form === 'unfinished') return sendMissing(reply, form);
      return show(request, reply, 200, form.options, { entered: presetsOf(form.options, request) });
    });

    app.get<FormCall>(`${path}/thanks`, options, async (request, reply) => {
      const form = await find(request);
      if (form === null || form === 'unfinished') return sendMissing(reply, form);
      return sendThanks(reply, form.options);
    });

    app.post<FormCall>(path, { ...options, bodyLimit: MAX_FORM_BYTES }, async (request, reply) => {
      const form = await find(request);
      if (form === null || form === 'unfinished') {
        closeUnread(request, reply);
        return sendMissing(reply, form);
      }
      const outcome = await submit(form, request);
      if (outcome.kind !== 'shown') return sendThere(request, reply, form.options);
      const { status, headers = {}, ...shown } = outcome;
      reply.headers(headers);
      return show(request, reply, status, form.options, shown);
    });
  }
}

/** What is filled in beforehand: by the author, or by whoever made the link. */
function presetsOf({ fields, ofSchema }: FormOptions, request: FastifyRequest): Entered {
  const query = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
  const entered = new Map<string, readonly string[]>();
  for (const { name, type, value } of fields) {
    if (type === 'page' || type === 'file') continue;
    const linked = query.getAll(name).filter((text) => text.length <= MAX_TEXT);
    const preset = ofSchema?.members.get(name)?.preset ?? (value === '' ? [] : [value]);
    if (linked.length > 0) entered.set(name, linked);
    else if (preset.length > 0) entered.set(name, preset);
  }
  return entered;
}

function show(
  request: FastifyRequest<FormCall>,
  reply: FastifyReply,
  status: number,
  options: FormOptions,
  { entered, page = 0, faults = [], problem = null, token = newToken() }: Showing,
): FastifyReply {
  const action = addressOf(request);
  const shown = { options, entered, page, faults, problem, token, action };
  return sendPage(reply, status, (reader) => formPage(shown, reader));
}

/** After a submission: a page that can be reloaded without sending anything again (RFC 9110, 15.4.4). */
function sendThere(
  request: FastifyRequest<FormCall>,
  reply: FastifyReply,
  { redirect_url: url }: FormOptions,
): FastifyReply {
  return reply.redirect(url === '' ? `${addressOf(request)}/thanks` : url, 303);
}

/** The path of the form that was asked for. */
function addressOf({ params: { hash, node } }: FastifyRequest<FormCall>): string {
  return `/api/v1/forms/${hash}${node === undefined ? '' : `/nodes/${encodeURIComponent(node)}`}`;
}

function sendThanks(
  reply: FastifyReply,
  { title, thanks, allowed_origins: frames }: FormOptions,
): FastifyReply {
  return sendPage(reply, 200, ({ say }) => ({
    ...saying(title, say(message('form.thanks')), thanks === '' ? say(message('form.thanks_text')) : thanks),
    frames,
  }));
}

function sendMissing(reply: FastifyReply, form: null | 'unfinished'): FastifyReply {
  if (form === null) return sendNotice(reply, 404, message('form.unknown'), message('form.unknown_text'));
  return sendNotice(reply, 503, message('form.unfinished'), message('form.unfinished_text'));
}

/** A refusal before the form was found, or a defect, as a page. */
function sendError(
  refused: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
  frames: readonly string[],
): FastifyReply {
  if (refused.status >= 500) logDefect(request, refused);
  setHeaders(reply, refused);
  const problem =
    refused.status === 413
      ? message('form.too_large', { megabytes: MAX_FORM_BYTES / (1024 * 1024) })
      : problemOf(refused);
  return sendPage(reply, refused.status, ({ say }) => {
    const heading = say(message('form.unfinished'));
    return { ...saying(heading, heading, say(problem)), frames };
  });
}
