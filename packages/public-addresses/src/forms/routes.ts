import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@millrace/engine';
import { ApiError, notFound } from '@millrace/errors/errors';
import { type KeptFiles, withKeptFiles } from '@millrace/http/keep-files';
import { startOrigin } from '@millrace/http/origin';
import { toApiError } from '@millrace/http/problem';
import { createRateLimiter, sourceOf } from '@millrace/http/rate-limit';
import { type Message, message } from '@millrace/messages';
import { recordsOfStart, type StartOrder } from '@millrace/runtime/start-row';
import type { Starter } from '@millrace/service/executions/accept';
import { organisationPaused } from '@millrace/service/executions/startable';
import { FORM_TRIGGER } from '@millrace/service/webhooks/closed';
import { type FormOptions, MAX_TEXT } from '@millrace/triggers';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AddressDeps } from '../deps.ts';
import type { Entered } from '../pages/fields.ts';
import { saying, sendNotice, sendPage } from '../pages/hosted-page.ts';
import { type OpenAddress, openAddress } from '../pages/open-address.ts';
import { busyForSeconds, logDefect, setHeaders } from '../pages/refusals.ts';
import { closeUnread, keepOrLeaveBodies, readArriving, unreadBody } from '../webhooks/arriving.ts';
import { isForm, isMultipart, readWebhookBody, typeOf } from '../webhooks/body.ts';
import { capture } from '../webhooks/capture.ts';
import { startEvent } from '../webhooks/deliver.ts';
import { createForms } from './form-of.ts';
import { formPage, newToken, type ShownForm } from './form-page.ts';
import { readInput } from './read-input.ts';
import { readSubmission } from './submission.ts';
import { createSubmittedFiles, type SubmittedFiles } from './submitted-files.ts';

/** Of what was entered: files are stored while they arrive. */
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
    keepOrLeaveBodies(scope);
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
    closeUnread(request, reply);
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
      if (form === null || form === 'unfinished') {
        closeUnread(request, reply);
        return sendMissing(reply, form);
      }
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
    const { organisationId } = form.workflow;
    const outcome = await withKeptFiles(deps.files, organisationId, request.log, async (kept) => {
      const decided = await decide(form, request, kept);
      if (decided.kind !== 'started') await kept.giveUp();
      return decided;
    });
    if (outcome.kind !== 'shown') return sendThere(request, reply, form.options);
    const { status, headers = {}, ...shown } = outcome;
    reply.headers(headers);
    return show(request, reply, status, form.options, shown);
  }

  async function decide(form: OpenForm, request: FastifyRequest<Call>, kept: KeptFiles): Promise<Outcome> {
    const { options, found } = form;
    /** Seconds to wait; counted once, and before anything is stored. */
    let waitS: number | null | undefined;
    const countSubmission = (): number | null => {
      if (waitS === undefined) waitS = secondsToWait(form, request);
      return waitS;
    };
    const mayStore = () => !found.isPaused && countSubmission() === null;
    const files = createSubmittedFiles(options.fields, kept, mayStore);
    const arriving = unreadBody(request);
    const { meant, ...sent } = readSubmission(options, await readBody(request, deps, files));
    const shown = { kind: 'shown', status: 200, ...sent } as const;
    if (meant.kind === 'other_page') return shown;
    if (meant.kind === 'faulty') return { ...shown, status: 422, faults: meant.faults };
    // It learns nothing from what it gets.
    if (meant.kind === 'by_program') return { kind: 'ignored' };
    const read = await readInput(form, meant.values);
    if (read.kind === 'refused') return { ...shown, status: 422, faults: read.faults, problem: read.problem };
    const seconds = countSubmission();
    if (seconds !== null) {
      const headers = { 'retry-after': String(seconds) };
      return { ...shown, status: 429, headers, problem: message('form.too_often', { seconds }) };
    }
    if (files.faults.length > 0) return { ...shown, status: 413, faults: files.faults };
    try {
      if (files.problem !== null) throw files.problem;
      if (found.isPaused) throw organisationPaused();
      // Files may take minutes, in which the workflow may have been archived or paused.
      const latest = arriving === null ? form : await find(request);
      if (latest === null || latest === 'unfinished') throw notFound('webhook');
      const { token } = sent;
      const submitted = { token, input: read.input, files: kept.values.map(({ $file }) => $file) };
      const isFirst = await start({ ...form, found: latest.found }, request, submitted);
      return { kind: isFirst ? 'started' : 'ignored' };
    } catch (error) {
      const refused = toApiError(error, request);
      if (refused.status === 500) throw error;
      const { status, headers } = refused;
      return { ...shown, status, headers, problem: problemOf(refused) };
    }
  }

  function secondsToWait({ options, workflow }: OpenForm, request: FastifyRequest): number | null {
    const limit = options.submissions_per_minute;
    const decision = perAddress.take(`${workflow.id} ${sourceOf(request.ip)}`, { limit });
    return decision?.allowed === false ? decision.resetSeconds : null;
  }

  /** Stores the start before it returns. @returns false if the same submission came before */
  async function start(
    { found, workflow, compiled, nodeId }: OpenForm,
    request: FastifyRequest,
    submitted: { readonly token: string; readonly input: JsonObject; readonly files: readonly string[] },
  ): Promise<boolean> {
    if (found.isPaused) throw organisationPaused();
    const { token, input, files } = submitted;
    const { executionId, now: acceptedAt } = found;
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
  async function readBody(
    request: FastifyRequest,
    { config: settings }: AddressDeps,
    { take }: SubmittedFiles,
  ): Promise<JsonObject> {
    const type = typeOf(request.headers['content-type']);
    if (!isForm(type) && !isMultipart(type))
      throw new ApiError('unsupported_media_type', message('api.body_type_or_form'));
    const arriving = unreadBody(request);
    const given =
      arriving === null
        ? await readWebhookBody(request, 'any', settings)
        : await readArriving(request, arriving, take);
    request.rawBody = null;
    return isJsonObject(given) ? given : {};
  }
}

/** What becomes of a submission: an execution, nothing at all, or a page of the form. */
type Outcome =
  | { readonly kind: 'started' }
  | { readonly kind: 'ignored' }
  | (Showing & {
      readonly kind: 'shown';
      readonly status: number;
      readonly headers?: ApiError['headers'];
    });

/** The page of a form, filled in; what is left out is that of a form that nobody has begun. */
type Showing = Partial<ShownForm> & Pick<ShownForm, 'entered'>;

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
  request: FastifyRequest<Call>,
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
