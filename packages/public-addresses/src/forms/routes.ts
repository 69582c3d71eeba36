import { createHash } from 'node:crypto';
import { type FileValue, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { startOrigin } from '@millrace/http/origin';
import { toApiError } from '@millrace/http/problem';
import { createRateLimiter, sourceOf } from '@millrace/http/rate-limit';
import { type Message, message } from '@millrace/messages';
import { recordsOfStart, type StartOrder } from '@millrace/runtime/start-row';
import type { Starter } from '@millrace/service/executions/accept';
import { organisationPaused } from '@millrace/service/executions/startable';
import { FORM_TRIGGER } from '@millrace/service/webhooks/closed';
import { type FormOptions, MAX_TEXT, pagesOf, readFields } from '@millrace/triggers';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AddressDeps } from '../deps.ts';
import type { Entered } from '../pages/fields.ts';
import { saying, sendNotice, sendPage } from '../pages/hosted-page.ts';
import { type OpenAddress, openAddress } from '../pages/open-address.ts';
import { busyForSeconds, logDefect, setHeaders } from '../pages/refusals.ts';
import { keepBodies, readWebhookBody } from '../webhooks/body.ts';
import { capture } from '../webhooks/capture.ts';
import { startEvent } from '../webhooks/deliver.ts';
import { discardKept, keeperOf } from '../webhooks/keep-files.ts';
import { createForms } from './form-of.ts';
import {
  BACK_INPUT,
  formPage,
  newToken,
  PAGE_INPUT,
  type ShownForm,
  TOKEN_INPUT,
  TRAP_INPUT,
} from './form-page.ts';
import { createHeldFiles, type HeldFiles } from './held-files.ts';

const TOKEN = /^[A-Za-z0-9_-]{22}$/;
/** With the files of its last page, which are held in memory until they are stored. */
const MAX_FORM_BYTES = 10 * 1024 * 1024;
/** How long the same submission, sent again, starts nothing. */
const REPEAT_WINDOW_S = 24 * 60 * 60;

type Call = { Params: { hash: string; node?: string } };

/** A form that somebody may fill in. */
interface OpenForm extends OpenAddress {
  /** Of its trigger. */
  readonly nodeId: string;
  readonly options: FormOptions;
}

/** `/forms/{hash}`: the pages of forms, and what is submitted on them. For people, so excluded from the API description. */
export function formRoutes(app: FastifyInstance, deps: AddressDeps, starter: Starter): void {
  // In its own scope, because only here errors are pages.
  app.register(async (scope) => {
    keepBodies(scope);
    addForms(scope, deps, starter);
  });
}

function addForms(app: FastifyInstance, deps: AddressDeps, starter: Starter): void {
  const formOf = createForms(deps.db);
  const perAddress = createRateLimiter(0);
  const config = { public: true, webhook: true, extension: true, produces: ['text/html'] } as const;
  const schema = { hide: true } as const;
  app.setErrorHandler<Error, Call>(async (error, request, reply) => {
    const refused = toApiError(error, request);
    // The only one that visitors meet by filling in the form, so a frame has to show it as well.
    const form = refused.status === 413 ? await find(request).catch(() => null) : null;
    const frames = form === null || form === 'unfinished' ? [] : form.options.allowed_origins;
    return sendError(refused, request, reply, frames);
  });

  // The first form of a workflow, and each one by its node.
  for (const path of ['/api/v1/forms/:hash', '/api/v1/forms/:hash/nodes/:node']) {
    app.get<Call>(path, { config, schema }, async (request, reply) => {
      const form = await find(request);
      if (form === null || form === 'unfinished') return sendMissing(reply, form);
      return show(request, reply, 200, form.options, { entered: presetsOf(form.options, request) });
    });

    app.get<Call>(`${path}/thanks`, { config, schema }, async (request, reply) => {
      const form = await find(request);
      if (form === null || form === 'unfinished') return sendMissing(reply, form);
      return sendThanks(reply, form.options);
    });

    app.post<Call>(path, { config, schema, bodyLimit: MAX_FORM_BYTES }, async (request, reply) => {
      const form = await find(request);
      if (form === null || form === 'unfinished') return sendMissing(reply, form);
      return submit(form, request, reply);
    });
  }

  async function find(request: FastifyRequest<Call>): Promise<OpenForm | null | 'unfinished'> {
    const address = await openAddress({ starter, plans: deps.plans }, request, FORM_TRIGGER);
    if (address === null) return null;
    const form = await formOf(address.workflow, address.compiled, request.params.node ?? null);
    if (form === undefined) return null;
    const { nodeId, options } = form;
    return options === null ? 'unfinished' : { ...address, nodeId, options };
  }

  async function submit(
    form: OpenForm,
    request: FastifyRequest<Call>,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const { options, workflow } = form;
    const held = createHeldFiles();
    const given = await readSubmission(request, deps, form, held);
    const entered = enteredOf(given);
    const pages = pagesOf(options.fields);
    const page = Math.min(
      Number(/^\d{1,3}$/.exec(oneOf(entered, PAGE_INPUT) ?? '')?.[0] ?? 0),
      pages.length - 1,
    );
    const token = TOKEN.exec(oneOf(entered, TOKEN_INPUT) ?? '')?.[0] ?? newToken();
    if (oneOf(entered, BACK_INPUT) !== null) {
      return show(request, reply, 200, options, { entered, token, page: Math.max(0, page - 1) });
    }
    const until = pages.slice(0, page + 1);
    const read = until.map(({ fields }) => readFields(fields, given));
    const faulty = read.findIndex(({ faults }) => faults.length > 0);
    if (faulty !== -1) {
      return show(request, reply, 422, options, {
        entered,
        token,
        page: faulty,
        faults: read[faulty]?.faults ?? [],
      });
    }
    if (page < pages.length - 1)
      return show(request, reply, 200, options, { entered, token, page: page + 1 });
    // A program that fills in everything learns nothing from what it gets.
    if ((oneOf(entered, TRAP_INPUT) ?? '') !== '') return sendThere(request, reply, options);
    const limit = options.submissions_per_minute;
    const decision = perAddress.take(`${workflow.id} ${sourceOf(request.ip)}`, { limit });
    if (decision?.allowed === false) {
      const problem = message('form.too_often', { seconds: decision.resetSeconds });
      reply.header('retry-after', String(decision.resetSeconds));
      return show(request, reply, 429, options, { entered, token, page, problem });
    }
    const submitted: JsonObject = Object.assign(Object.create(null), ...read.map((each) => each.values));
    const kept: FileValue[] = [];
    try {
      const values = await held.keep(submitted, keeperOf(deps.files, workflow, kept));
      const isFirst = await start(form, request, {
        token,
        values,
        files: kept.map(({ $file }) => $file),
      });
      if (!isFirst) await discardKept(deps.files, workflow, kept, request.log);
    } catch (error) {
      await discardKept(deps.files, workflow, kept, request.log);
      const refused = toApiError(error, request);
      if (refused.status === 500) throw error;
      setHeaders(reply, refused);
      return show(request, reply, refused.status, options, {
        entered,
        token,
        page,
        problem: problemOf(refused),
      });
    }
    return sendThere(request, reply, options);
  }

  /** Stores the start before it returns. @returns false if the same submission came before */
  async function start(
    { found, workflow, compiled, nodeId }: OpenForm,
    request: FastifyRequest,
    submitted: { readonly token: string; readonly values: JsonObject; readonly files: readonly string[] },
  ): Promise<boolean> {
    if (found.isPaused) throw organisationPaused();
    const { token, values, files } = submitted;
    const { executionId, now: acceptedAt } = found;
    const input = { ...values };
    const order: StartOrder = {
      executionId,
      acceptedAt,
      workflow,
      version: workflow.version,
      triggerType: 'form',
      input,
      compiled,
      records: recordsOfStart(compiled, nodeId, { data: input }, acceptedAt),
      origin: startOrigin(request),
      ...(files.length === 0 ? {} : { files }),
    };
    const hash = createHash('sha256').update(`form ${token}`).digest();
    const started = await startEvent(deps.db, starter, { hash, windowS: REPEAT_WINDOW_S }, order);
    if (found.isListening === true && started.isFirst) {
      await capture(deps.db, request, workflow, { executionId, data: order.input, isRepeat: false });
    }
    return started.isFirst;
  }

  /** @throws ApiError for a body that no form sends */
  async function readSubmission(
    request: FastifyRequest,
    { config: settings }: AddressDeps,
    { options }: OpenForm,
    held: HeldFiles,
  ): Promise<JsonObject> {
    const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
    if (type !== 'application/x-www-form-urlencoded' && type !== 'multipart/form-data')
      throw new ApiError('unsupported_media_type', message('api.body_type_or_form'));
    const hasFiles = options.fields.some((field) => field.type === 'file');
    const given = await readWebhookBody(
      request,
      'files',
      settings,
      hasFiles ? (file) => held.hold(file) : null,
    );
    request.rawBody = null;
    return isJsonObject(given) ? given : {};
  }
}

/** The text of an input that the form sends once; null if it didn't. */
function oneOf(entered: Entered, name: string): string | null {
  return entered.get(name)?.[0] ?? null;
}

function enteredOf(given: JsonObject): Entered {
  const textsOf = (value: JsonValue): readonly string[] =>
    (isJsonArray(value) ? value : [value]).filter((each) => typeof each === 'string');
  return new Map(Object.entries(given).map(([name, value]) => [name, textsOf(value ?? null)]));
}

/** What is filled in beforehand: by the author, or by whoever made the link. */
function presetsOf({ fields }: FormOptions, request: FastifyRequest): Entered {
  const query = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
  const entered = new Map<string, readonly string[]>();
  for (const { name, type, value } of fields) {
    if (type === 'page' || type === 'file') continue;
    const linked = query.getAll(name).filter((text) => text.length <= MAX_TEXT);
    if (linked.length > 0) entered.set(name, linked);
    else if (value !== '') entered.set(name, [value]);
  }
  return entered;
}

function show(
  request: FastifyRequest<Call>,
  reply: FastifyReply,
  status: number,
  options: FormOptions,
  {
    entered,
    page = 0,
    faults = [],
    problem = null,
    token = newToken(),
  }: Partial<ShownForm> & Pick<ShownForm, 'entered'>,
): FastifyReply {
  const action = addressOf(request);
  const shown = { options, entered, page, faults, problem, token, action };
  return sendPage(reply, status, (reader) => formPage(shown, reader));
}

/** After a submission: a page that can be reloaded without sending anything again (RFC 9110, 15.4.4). */
function sendThere(
  request: FastifyRequest<Call>,
  reply: FastifyReply,
  { redirect_url: url }: FormOptions,
): FastifyReply {
  return reply.redirect(url === '' ? `${addressOf(request)}/thanks` : url, 303);
}

/** The path of the form that was asked for. */
function addressOf({ params: { hash, node } }: FastifyRequest<Call>): string {
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

/** What a reader can do about a submission that wasn't taken. */
function problemOf(refused: ApiError): Message {
  const seconds = busyForSeconds(refused);
  if (seconds !== null) return message('form.busy', { seconds });
  return message('form.refused', { reason: refused.explanation });
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
