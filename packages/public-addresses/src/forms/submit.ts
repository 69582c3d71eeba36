import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@millrace/engine';
import { ApiError, notFound } from '@millrace/errors/errors';
import { type KeptFiles, withKeptFiles } from '@millrace/http/keep-files';
import { isForm, isMultipart, typeOf } from '@millrace/http/media-type';
import { toApiError } from '@millrace/http/problem';
import { createRateLimiter, sourceOf } from '@millrace/http/rate-limit';
import { type Message, message } from '@millrace/messages';
import type { Starter } from '@millrace/service/executions/accept';
import { organisationPaused } from '@millrace/service/executions/startable';
import type { FastifyRequest } from 'fastify';
import type { AddressDeps } from '../deps.ts';
import { orderOf } from '../open-address.ts';
import { busyForSeconds } from '../pages/refusals.ts';
import { readArriving, unreadBody } from '../webhooks/arriving.ts';
import { readWebhookBody } from '../webhooks/body.ts';
import { capture } from '../webhooks/capture.ts';
import { startEvent } from '../webhooks/deliver.ts';
import type { ShownForm } from './form-page.ts';
import type { FindForm, FormCall, OpenForm } from './open-form.ts';
import { readInput } from './read-input.ts';
import { readSubmission } from './submission.ts';
import { createSubmittedFiles, type SubmittedFiles } from './submitted-files.ts';

/** How long the same submission, sent again, starts nothing. */
const REPEAT_WINDOW_S = 24 * 60 * 60;

/** What becomes of a submission: an execution, nothing at all, or a page of the form. */
export type Outcome =
  | { readonly kind: 'started' }
  | { readonly kind: 'ignored' }
  | (Showing & {
      readonly kind: 'shown';
      readonly status: number;
      readonly headers?: ApiError['headers'];
    });

/** The page of a form, filled in; what is left out is that of a form that nobody has begun. */
export type Showing = Partial<ShownForm> & Pick<ShownForm, 'entered'>;

interface SubmitDeps {
  readonly deps: AddressDeps;
  readonly starter: Starter;
  readonly find: FindForm;
}

/** Reads a submission and starts the workflow with it, or says which page to show instead. */
export function createSubmit({
  deps,
  starter,
  find,
}: SubmitDeps): (form: OpenForm, request: FastifyRequest<FormCall>) => Promise<Outcome> {
  const { db, config, files } = deps;
  const perAddress = createRateLimiter(0);

  /** Null: at once. */
  function secondsToWait({ options, workflow }: OpenForm, request: FastifyRequest): number | null {
    const limit = options.submissions_per_minute;
    const decision = perAddress.take(`${workflow.id} ${sourceOf(request.ip)}`, { limit });
    return decision?.allowed === false ? decision.resetSeconds : null;
  }

  async function decide(
    form: OpenForm,
    request: FastifyRequest<FormCall>,
    kept: KeptFiles,
  ): Promise<Outcome> {
    const { options, found } = form;
    /** Seconds to wait; counted once, and before anything is stored. */
    let waitS: number | null | undefined;
    const countSubmission = (): number | null => {
      if (waitS === undefined) waitS = secondsToWait(form, request);
      return waitS;
    };
    const mayStore = () => !found.isPaused && countSubmission() === null;
    const submitted = createSubmittedFiles(options.fields, kept, mayStore);
    const arriving = unreadBody(request);
    const { meant, ...sent } = readSubmission(options, await readBody(request, config, submitted));
    const shown = { kind: 'shown', status: 200, ...sent } as const;
    if (meant.kind === 'other_page') return shown;
    if (meant.kind === 'faulty') return { ...shown, status: 422, faults: meant.faults };
    // It learns nothing from what it gets.
    if (meant.kind === 'by_program') return { kind: 'ignored' };
    // Checking by a schema may take seconds.
    if (options.ofSchema !== null) {
      const seconds = countSubmission();
      if (seconds !== null) return { ...shown, ...tooOften(seconds) };
    }
    const read = await readInput(form, meant.values);
    if (read.kind === 'refused') return { ...shown, status: 422, faults: read.faults, problem: read.problem };
    const seconds = countSubmission();
    if (seconds !== null) return { ...shown, ...tooOften(seconds) };
    if (submitted.faults.length > 0) return { ...shown, status: 413, faults: submitted.faults };
    try {
      if (submitted.problem !== null) throw submitted.problem;
      if (found.isPaused) throw organisationPaused();
      // Files may take minutes, in which the workflow may have been archived or paused.
      const latest = arriving === null ? form : await find(request);
      if (latest === null || latest === 'unfinished') throw notFound('webhook');
      const fileIds = kept.values.map(({ $file }) => $file);
      const isFirst = await start({ ...form, found: latest.found }, request, sent.token, read.input, fileIds);
      return { kind: isFirst ? 'started' : 'ignored' };
    } catch (error) {
      const refused = toApiError(error, request);
      if (refused.status === 500) throw error;
      const { status, headers } = refused;
      return { ...shown, status, headers, problem: problemOf(refused) };
    }
  }

  /** Stores the start before it returns. @returns false if the same submission came before */
  async function start(
    form: OpenForm,
    request: FastifyRequest,
    token: string,
    input: JsonObject,
    fileIds: readonly string[],
  ): Promise<boolean> {
    const { found, workflow, nodeId } = form;
    if (found.isPaused) throw organisationPaused();
    const order = orderOf(form, request, { triggerType: 'form', nodeId, input, files: fileIds });
    const hash = createHash('sha256').update(`form ${token}`).digest();
    const { executionId, isFirst } = await startEvent(db, starter, { hash, windowS: REPEAT_WINDOW_S }, order);
    if (found.isListening && isFirst)
      await capture(db, request, workflow, { executionId, data: input, isRepeat: false });
    return isFirst;
  }

  return (form, request) =>
    withKeptFiles(files, form.workflow.organisationId, request.log, async (kept) => {
      const outcome = await decide(form, request, kept);
      if (outcome.kind !== 'started') await kept.giveUp();
      return outcome;
    });
}

function tooOften(seconds: number) {
  const headers = { 'retry-after': String(seconds) };
  return { status: 429, headers, problem: message('form.too_often', { seconds }) };
}

/** @throws ApiError for a body that no form sends */
async function readBody(
  request: FastifyRequest,
  settings: AddressDeps['config'],
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

/** What a reader can do about a submission that wasn't taken. */
export function problemOf(refused: ApiError): Message {
  const seconds = busyForSeconds(refused);
  if (seconds !== null) return message('form.busy', { seconds });
  return message('form.refused', { reason: refused.explanation });
}
