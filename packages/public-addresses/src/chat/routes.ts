import { embedScript } from '@millrace/chat/assets';
import {
  type BeganTurn,
  type FollowedTurn,
  findTurn,
  listTurns,
  type SessionKey,
} from '@millrace/chat/turns';
import type { JsonValue } from '@millrace/engine';
import { compressAnswer } from '@millrace/http/compress-answer';
import { sendFile } from '@millrace/http/download';
import { sendEvents } from '@millrace/http/event-stream';
import { withKeptFiles } from '@millrace/http/keep-files';
import { toApiError } from '@millrace/http/problem';
import { createRateLimiter, sourceOf } from '@millrace/http/rate-limit';
import { createWatcher, endingInTime } from '@millrace/http/watcher';
import { message } from '@millrace/messages';
import type { Starter } from '@millrace/service/executions/accept';
import { organisationPaused } from '@millrace/service/executions/startable';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AddressDeps } from '../deps.ts';
import { sendNotice } from '../pages/hosted-page.ts';
import { keepOrLeaveBodies } from '../webhooks/arriving.ts';
import { WaitingCallers } from '../webhooks/waiting-callers.ts';
import { chatReader, sendChatPage } from './chat-page.ts';
import { followTurn } from './follow-turn.ts';
import { readMessage, readMessageWithFiles } from './message.ts';
import { createFindChat, type FindChat, type OpenChat, required, sessionOf } from './open-chat.ts';
import { decideQuestion, presentQuestions } from './questions.ts';
import { ChatRefusal, tooOften, turnRefusal } from './refusal.ts';
import { sendRefusal } from './send-refusal.ts';
import { startTurn } from './start-turn.ts';
import { endOf, filesIn, inWords, presentTurn } from './turn-end.ts';

/** Room for the longest message in any script, as JSON. */
const MAX_BODY_BYTES = 128 * 1024;

type Call = { Params: { hash: string } };
type TurnCall = { Params: { hash: string; number: string } };
type FileCall = { Params: TurnCall['Params'] & { file: string } };

const COMMON = { public: true, webhook: true, extension: true } as const;
const HTML = { ...COMMON, produces: ['text/html'] } as const;
const SCRIPT = { ...COMMON, produces: ['text/javascript', 'application/javascript'] } as const;
const FILES = { ...COMMON, produces: ['*/*'] } as const;
const EVENTS = { ...COMMON, produces: ['text/event-stream'] } as const;
/** For people, so excluded from the API description. */
const schema = { hide: true } as const;

/** What the routes of chats have in common. */
interface Chats {
  readonly deps: AddressDeps;
  readonly starter: Starter;
  readonly find: FindChat;
  readonly limitRate: (chat: OpenChat, session: SessionKey, request: FastifyRequest) => void;
}

/** `/chat/{hash}`: the page of a chat, the script for other websites, and what is said. */
export function chatRoutes(app: FastifyInstance, deps: AddressDeps, starter: Starter): void {
  // In its own scope, because only here errors are texts for visitors.
  app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => sendRefusal(toApiError(error, request), request, reply));
    const chats = { deps, starter, find: createFindChat(deps, starter), limitRate: createLimit() };
    addPage(scope, chats);
    addMessages(scope, chats);
    addTurns(scope, chats);
  });
}

/** Counts by address and by session: neither many sessions nor many addresses help. */
function createLimit(): Chats['limitRate'] {
  const perSource = createRateLimiter(0);
  return ({ workflow, options }, session, request) => {
    const limit = options.messages_per_minute;
    for (const caller of [sourceOf(request.ip), session.hash.toString('base64')]) {
      const decision = perSource.take(`${workflow.id} ${caller}`, { limit });
      if (decision?.allowed === false) throw tooOften(decision.resetSeconds);
    }
  };
}

function addPage(app: FastifyInstance, { deps, find }: Chats): void {
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
}

/** What visitors send. */
function addMessages(app: FastifyInstance, { deps, starter, find, limitRate }: Chats): void {
  const { db, files } = deps;

  app.post<Call>(
    '/api/v1/chat/:hash/messages',
    { config: COMMON, schema, bodyLimit: MAX_BODY_BYTES },
    async (request, reply) => {
      const chat = required(await find(request));
      const session = sessionOf(request, chat.workflow);
      const sent = readMessage(request.body as JsonValue, chat.options);
      limitRate(chat, session, request);
      return accept(reply, await startTurn({ db, starter }, chat, session, sent, request));
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
        const { organisationId } = chat.workflow;
        const session = sessionOf(request, chat.workflow);
        limitRate(chat, session, request);
        if (chat.found.isPaused) throw organisationPaused();
        const began = await withKeptFiles(files, organisationId, request.log, async (kept) => {
          const sent = await readMessageWithFiles(request, kept, chat.options);
          // Files may take a while, in which the workflow may have been archived or paused.
          const { found } = required(await find(request));
          const started = await startTurn({ db, starter }, { ...chat, found }, session, sent, request);
          if (started.kind !== 'new') await kept.giveUp();
          return started;
        });
        return accept(reply, began);
      },
    );
  });
}

/** What became of what was sent. */
function addTurns(app: FastifyInstance, { deps, find, limitRate }: Chats): void {
  const { db, files } = deps;
  const watcher = createWatcher(app, deps.notifier);
  const followers = new WaitingCallers(deps.config.limits);

  app.get<Call>('/api/v1/chat/:hash/turns', { config: COMMON, schema }, async (request) => {
    const chat = required(await find(request));
    const session = sessionOf(request, chat.workflow);
    const rows = await db.forOrganisation(session.organisationId, (tx) => listTurns(tx, session));
    const { say } = chatReader(chat.options, request.headers);
    return { turns: rows.map((row) => presentTurn(row, say)) };
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
      const file = isGiven ? await files.findOf(session.organisationId, turn.execution_id, id) : undefined;
      if (file === undefined) throw new ChatRefusal(404, message('chat.file_gone'));
      return sendFile(files, file, request, reply);
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
      const watch = endingInTime(watcher(first.execution_id, reply));
      return sendEvents(
        reply,
        followTurn(read, watch, {
          questionsOf: (turn) => presentQuestions(deps, session, turn, reader),
          endOf: async (turn) => inWords(await endOf(deps, session, turn), reader.say),
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

  /** The turn that an address names, of the session that sent it. */
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
}

function accept(reply: FastifyReply, began: BeganTurn): FastifyReply {
  if (began.kind === 'refused') throw turnRefusal(began.because);
  return reply.code(202).send({ number: began.number });
}
