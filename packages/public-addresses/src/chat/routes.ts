import { answerFilesOf, answerOf, liveNodesOf } from '@millrace/chat/answer';
import { embedScript } from '@millrace/chat/assets';
import {
  type BeganTurn,
  beginTurn,
  endTurn,
  type FollowedTurn,
  findTurn,
  hashOfSession,
  listTurns,
  MAX_OPEN_TURNS,
  type SessionKey,
  sessionIdOf,
  type TurnRow,
} from '@millrace/chat/turns';
import { isFinalStatus, type JsonObject, type JsonText, type JsonValue, parseJson } from '@millrace/engine';
import type { ApiError } from '@millrace/errors/errors';
import { compressAnswer } from '@millrace/http/compress-answer';
import { sendFile } from '@millrace/http/download';
import { sendEvents } from '@millrace/http/event-stream';
import { withKeptFiles } from '@millrace/http/keep-files';
import { startOrigin } from '@millrace/http/origin';
import { toApiError } from '@millrace/http/problem';
import { createRateLimiter, sourceOf } from '@millrace/http/rate-limit';
import { createWatcher, endingAfter } from '@millrace/http/watcher';
import { message } from '@millrace/messages';
import { readChunks } from '@millrace/runtime/chunks';
import { recordsOfStart, type StartableWorkflow, type StartOrder } from '@millrace/runtime/start-row';
import type { Starter } from '@millrace/service/executions/accept';
import { organisationPaused } from '@millrace/service/executions/startable';
import { findExecution } from '@millrace/service/executions/store';
import { CHAT_TRIGGER } from '@millrace/service/webhooks/closed';
import { type ChatOptions, MAX_CHAT_FILES } from '@millrace/triggers';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AddressDeps } from '../deps.ts';
import { sendNotice } from '../pages/hosted-page.ts';
import { type OpenAddress, openAddress } from '../pages/open-address.ts';
import type { Reader } from '../pages/reader.ts';
import { busyForSeconds, logDefect, setHeaders } from '../pages/refusals.ts';
import { closeUnread, keepOrLeaveBodies } from '../webhooks/arriving.ts';
import { capture } from '../webhooks/capture.ts';
import { WaitingCallers } from '../webhooks/waiting-callers.ts';
import { createChats } from './chat-of.ts';
import { chatReader, sendChatPage } from './chat-page.ts';
import { followTurn, type TurnEnd } from './follow-turn.ts';
import { readMessage, readMessageWithFiles, type SentMessage } from './message.ts';
import { decideQuestion, presentQuestions } from './questions.ts';
import { ChatRefusal } from './refusal.ts';

const SESSION = /^[A-Za-z0-9_-]{43}$/;
/** Room for the longest message in any script, as JSON. */
const MAX_BODY_BYTES = 128 * 1024;
/** After this the page connects again. */
const MAX_STREAM_MS = 300_000;

type Call = { Params: { hash: string } };
type TurnCall = { Params: { hash: string; number: string } };
type FileCall = { Params: TurnCall['Params'] & { file: string } };

/** A chat that somebody may use. */
interface OpenChat extends OpenAddress {
  /** Of its trigger. */
  readonly nodeId: string;
  readonly options: ChatOptions;
}

/** `/chat/{hash}`: the page of a chat, the script for other websites, and what is said. For people, so excluded from the API description. */
export function chatRoutes(app: FastifyInstance, deps: AddressDeps, starter: Starter): void {
  // In its own scope, because only here errors are texts for visitors.
  app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => sendError(toApiError(error, request), request, reply));
    addChats(scope, deps, starter);
  });
}

const COMMON = { public: true, webhook: true, extension: true } as const;
const HTML = { ...COMMON, produces: ['text/html'] } as const;
const SCRIPT = { ...COMMON, produces: ['text/javascript', 'application/javascript'] } as const;
const FILES = { ...COMMON, produces: ['*/*'] } as const;
const EVENTS = { ...COMMON, produces: ['text/event-stream'] } as const;

function addChats(app: FastifyInstance, deps: AddressDeps, starter: Starter): void {
  const { db } = deps;
  const chatOf = createChats(db);
  const perSource = createRateLimiter(0);
  const watcher = createWatcher(app, deps.notifier);
  const followers = new WaitingCallers(deps.config.limits);
  const schema = { hide: true } as const;

  app.get<Call>(
    '/api/v1/chat/:hash',
    { config: HTML, schema, onSend: compressAnswer },
    async (request, reply) => {
      const chat = await find(request);
      if (chat === null) return sendNotice(reply, 404, message('form.unknown'), message('chat.unknown_text'));
      if (chat === 'unfinished')
        return sendNotice(reply, 503, message('form.unfinished'), message('chat.unfinished_text'));
      return sendChatPage(reply, chat.options, `/api/v1/chat/${request.params.hash}`);
    },
  );

  app.get<Call>('/api/v1/chat/:hash/embed.js', { config: SCRIPT, schema }, async (request, reply) => {
    const chat = required(await find(request));
    const { say } = chatReader(chat.options, request.headers);
    const { title, allowed_origins: origins } = chat.options;
    const script = embedScript({
      isAllowed: origins.length > 0,
      url: `${deps.config.publicUrl}/api/v1/chat/${request.params.hash}`,
      title,
      open: title,
      close: say(message('chat.close')),
    });
    // Other websites include it.
    reply.header('cross-origin-resource-policy', 'cross-origin');
    return reply.type('text/javascript; charset=utf-8').header('vary', 'accept-language').send(script);
  });

  app.get<Call>('/api/v1/chat/:hash/turns', { config: COMMON, schema }, async (request) => {
    const chat = required(await find(request));
    const session = sessionOf(request, chat.workflow);
    const rows = await db.forOrganisation(session.organisationId, (tx) => listTurns(tx, session));
    const { say } = chatReader(chat.options, request.headers);
    return { turns: rows.map((row) => presentTurn(row, say)) };
  });

  app.post<Call>(
    '/api/v1/chat/:hash/messages',
    { config: COMMON, schema, bodyLimit: MAX_BODY_BYTES },
    async (request, reply) => {
      const chat = required(await find(request));
      const session = sessionOf(request, chat.workflow);
      const sent = readMessage(request.body as JsonValue, chat.options);
      limitRate(chat, session, request);
      return accept(reply, await start(chat, session, sent, request));
    },
  );

  // In its own scope, because only here bodies aren't JSON.
  app.register(async (scope) => {
    keepOrLeaveBodies(scope);
    scope.post<Call>(
      '/api/v1/chat/:hash/messages/files',
      { config: COMMON, schema, bodyLimit: MAX_BODY_BYTES },
      async (request, reply) => {
        const chat = required(await find(request));
        const session = sessionOf(request, chat.workflow);
        limitRate(chat, session, request);
        if (chat.found.isPaused) throw organisationPaused();
        const began = await withKeptFiles(
          deps.files,
          chat.workflow.organisationId,
          request.log,
          async (kept) => {
            const sent = await readMessageWithFiles(request, kept, chat.options);
            // Files may take a while, in which the workflow may have been archived or paused.
            const { found } = required(await find(request));
            const started = await start({ ...chat, found }, session, sent, request);
            if (started.kind !== 'new') await kept.giveUp();
            return started;
          },
        );
        return accept(reply, began);
      },
    );
  });

  app.get<FileCall>(
    '/api/v1/chat/:hash/turns/:number/files/:file',
    { config: FILES, schema },
    async (request, reply) => {
      const chat = required(await find(request));
      const session = sessionOf(request, chat.workflow);
      const { first: turn } = await findTurnOf(request, session);
      const { file: id } = request.params;
      // Those of the answer and no others that the execution has.
      const isGiven = filesIn(turn.answer_files).some((each) => each.id === id);
      const file = isGiven
        ? await deps.files.findOf(session.organisationId, turn.execution_id, id)
        : undefined;
      if (file === undefined) throw new ChatRefusal(404, message('chat.file_gone'));
      return sendFile(deps.files, file, request, reply);
    },
  );

  app.get<TurnCall>(
    '/api/v1/chat/:hash/turns/:number/events',
    { config: EVENTS, schema },
    async (request, reply) => {
      const chat = required(await find(request));
      const session = sessionOf(request, chat.workflow);
      const { read, first } = await findTurnOf(request, session);
      const reader = chatReader(chat.options, request.headers);
      const leave = followers.enter(session.organisationId);
      // Gone already: nothing would tell.
      if (reply.raw.destroyed) leave();
      else reply.raw.once('close', leave);
      const watch = endingAfter(watcher(first.execution_id, reply), MAX_STREAM_MS);
      return sendEvents(
        reply,
        followTurn(read, watch, {
          questionsOf: (turn) => presentQuestions(deps, session, turn, reader),
          endOf: async (turn) => inWords(await endOf(session, turn), reader.say),
        }),
      );
    },
  );

  app.post<TurnCall>(
    '/api/v1/chat/:hash/turns/:number/decisions',
    { config: COMMON, schema, bodyLimit: MAX_BODY_BYTES },
    async (request, reply) => {
      const chat = required(await find(request));
      const session = sessionOf(request, chat.workflow);
      const { first } = await findTurnOf(request, session);
      limitRate(chat, session, request);
      const decided = await decideQuestion(deps, session, first, request.body as JsonValue);
      if (decided === 'accepted') return { accepted: true };
      if (decided === 'no_such_choice') throw new ChatRefusal(422, message('approval.press_button'));
      if (typeof decided === 'string') throw new ChatRefusal(409, message('chat.decided'));
      const { say } = chatReader(chat.options, request.headers);
      const faults = decided.faults.map(({ name, message: said }) => ({ name, fault: say(said) }));
      return reply.code(422).send({ problem: say(message('form.faults', { count: faults.length })), faults });
    },
  );

  /** The message that an address names, of the session that sent it. */
  async function findTurnOf(
    request: FastifyRequest<TurnCall>,
    session: SessionKey,
  ): Promise<{ readonly read: () => Promise<FollowedTurn | undefined>; readonly first: FollowedTurn }> {
    const number = Number(/^[1-9]\d{0,8}$/.exec(request.params.number)?.[0] ?? 0);
    const read = () => db.forOrganisation(session.organisationId, (tx) => findTurn(tx, session, number));
    const first = await read();
    if (first === undefined) throw new ChatRefusal(404, message('chat.gone'));
    return { read, first };
  }

  async function find(request: FastifyRequest<Call>): Promise<OpenChat | null | 'unfinished'> {
    const address = await openAddress({ starter, plans: deps.plans }, request, CHAT_TRIGGER);
    if (address === null) return null;
    const chat = await chatOf(address.workflow, address.compiled);
    return chat === null ? 'unfinished' : { ...address, ...chat };
  }

  /** By address and by session: neither many sessions nor many addresses help. */
  function limitRate({ workflow, options }: OpenChat, session: SessionKey, request: FastifyRequest): void {
    const limit = options.messages_per_minute;
    for (const caller of [sourceOf(request.ip), session.hash.toString('base64')]) {
      const decision = perSource.take(`${workflow.id} ${caller}`, { limit });
      if (decision?.allowed === false) throw tooOften(decision.resetSeconds);
    }
  }

  /** Stores the message and its start before it returns; the same message sent again starts nothing. */
  async function start(
    { found, workflow, compiled, nodeId, options }: OpenChat,
    session: SessionKey,
    sent: SentMessage,
    request: FastifyRequest,
  ): Promise<BeganTurn> {
    if (found.isPaused) throw organisationPaused();
    const { executionId, now: acceptedAt } = found;
    const isLive = options.live && compiled.kind === 'plan';
    const turn = {
      messageId: sent.messageId,
      message: sent.text,
      files: sent.files,
      executionId,
      liveNodeIds: isLive ? liveNodesOf(compiled.plan, options.answer) : [],
    };
    const limits = {
      sessionsPerHour: options.sessions_per_hour,
      turnsPerSession: options.messages_per_session,
    };
    const orderOf = (number: number): StartOrder => {
      const input = {
        session_id: sessionIdOf(session.hash),
        message: sent.text,
        message_id: sent.messageId,
        number,
        ...(options.files_per_message === 0 ? {} : { files: sent.files }),
      };
      return {
        executionId,
        acceptedAt,
        workflow,
        version: workflow.version,
        triggerType: 'chat',
        input,
        compiled,
        records: recordsOfStart(compiled, nodeId, { data: input }, acceptedAt),
        origin: startOrigin(request),
        ...(sent.files.length === 0 ? {} : { files: sent.files.map(({ $file }) => $file) }),
      };
    };
    const began = await db.transaction(async (tx) => {
      const begun = await beginTurn(tx, session, turn, limits);
      if (begun.kind === 'new')
        await starter.storeQueued(tx, session.organisationId, [orderOf(begun.number)]);
      return begun;
    });
    if (began.kind === 'new') {
      const order = orderOf(began.number);
      starter.stored(order);
      if (found.isListening)
        await capture(db, request, workflow, { executionId, data: order.input, isRepeat: false });
    }
    return began;
  }

  /** What became of a turn; kept with it once its execution has ended. */
  async function endOf(session: SessionKey, turn: FollowedTurn): Promise<TurnEnd> {
    const { outcome, answer } = turn;
    if (outcome !== null) return { outcome, answer: answer ?? '', files: filesIn(turn.answer_files) };
    const end = await readEnd(session, turn);
    await db.forOrganisation(session.organisationId, (tx) => endTurn(tx, session, turn, end));
    return end;
  }

  async function readEnd({ organisationId }: SessionKey, turn: FollowedTurn): Promise<TurnEnd> {
    if (turn.status !== 'completed') return FAILED;
    const row = await db.forOrganisation(organisationId, (tx) =>
      findExecution(tx, organisationId, turn.execution_id),
    );
    const compiled = row === undefined ? null : await deps.plans.get(row.workflow_id, row.workflow_version);
    if (row === undefined || compiled?.kind !== 'plan') return FAILED;
    const chunks = await readChunks(row.chunks);
    const of = {
      executionId: row.id,
      triggerData: parseJson(row.input),
      records: chunks.flatMap(({ records }) => records),
      maxBytes: deps.config.limits.nodeOutputBytes,
    };
    const ids = answerFilesOf(compiled.plan, of, MAX_CHAT_FILES);
    const rows = ids.length === 0 ? [] : await deps.files.listOf(organisationId, row.id, ids);
    const files = rows.map(({ id, name, type, size }) => ({ id, name, type, size }));
    return { outcome: 'answered', answer: answerOf(compiled.plan, of) ?? '', files };
  }
}

type Say = Reader['say'];
const FAILED: TurnEnd = { outcome: 'failed', answer: '', files: [] };

function accept(reply: FastifyReply, began: BeganTurn): FastifyReply {
  if (began.kind === 'refused') throw refusal(began.because);
  return reply.code(202).send({ number: began.number });
}

function filesIn<File extends JsonObject>(stored: JsonText<File[]> | null): readonly File[] {
  return stored === null ? [] : parseJson(stored);
}

/** An answer without a text, and a failure, as the reader is told of them. */
function inWords({ outcome, answer, files }: TurnEnd, say: Say): TurnEnd {
  if (answer !== '') return { outcome, answer, files };
  return { outcome, files, answer: say(message(outcome === 'failed' ? 'chat.failed' : 'chat.no_text')) };
}

function presentTurn(row: TurnRow, say: Say): JsonObject {
  const { number, message: text, outcome, answer } = row;
  const isOpen = outcome === null;
  const files = filesIn(row.answer_files);
  const end = isOpen
    ? { outcome: null, answer: null, files: [] }
    : inWords({ outcome, answer: answer ?? '', files }, say);
  return {
    number,
    message: text,
    sent_files: filesIn(row.files),
    ...end,
    has_ended: isFinalStatus(row.status),
  };
}

function required(chat: OpenChat | null | 'unfinished'): OpenChat {
  if (chat === null) throw new ChatRefusal(404, message('chat.unknown_text'));
  if (chat === 'unfinished') throw new ChatRefusal(503, message('chat.unfinished_text'));
  return chat;
}

function tooOften(seconds: number): ChatRefusal {
  return new ChatRefusal(429, message('chat.too_often', { seconds }), { retryAfterS: seconds });
}

function refusal(because: Extract<BeganTurn, { kind: 'refused' }>['because']): ChatRefusal {
  switch (because) {
    case 'open':
      return new ChatRefusal(429, message('chat.open', { max: MAX_OPEN_TURNS }), { retryAfterS: 5 });
    case 'turns':
      return new ChatRefusal(409, message('chat.full'), { ends: true });
    case 'sessions':
      return new ChatRefusal(429, message('chat.busy_all'), { retryAfterS: 600 });
  }
}

/** The session whose secret the browser sends: in a header, so it stands in no address and no log. */
function sessionOf(request: FastifyRequest, { id, organisationId }: StartableWorkflow): SessionKey {
  const secret = request.headers['x-chat-session'];
  if (typeof secret !== 'string' || !SESSION.test(secret))
    throw new ChatRefusal(400, message('chat.no_session'));
  return { workflowId: id, organisationId, hash: hashOfSession(secret) };
}

function refusalOf(error: ApiError): ChatRefusal {
  if (error.cause instanceof ChatRefusal) return error.cause;
  const seconds = busyForSeconds(error);
  if (seconds !== null)
    return new ChatRefusal(error.status, message('chat.busy', { seconds }), { retryAfterS: seconds });
  if (error.status === 413) return new ChatRefusal(413, message('chat.too_large'));
  return new ChatRefusal(error.status, message('chat.not_taken'));
}

/** A refusal, or a defect, in the language of the page. */
function sendError(error: ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refused = refusalOf(error);
  closeUnread(request, reply);
  if (refused.status >= 500 && error.cause !== refused) logDefect(request, error);
  setHeaders(reply, error);
  if (refused.retryAfterS !== null) reply.header('retry-after', String(refused.retryAfterS));
  if (request.routeOptions.config.produces?.includes('text/html') === true)
    return sendNotice(reply, refused.status, message('form.unfinished'), refused.said);
  const { say } = chatReader(null, request.headers);
  return reply
    .code(refused.status)
    .type('application/json; charset=utf-8')
    .send({ problem: say(refused.said), ends: refused.ends });
}
