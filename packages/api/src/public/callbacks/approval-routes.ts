import { message } from '@millrace/messages';
import type { CallbackRow } from '@millrace/service/callbacks/store';
import { hashToken } from '@millrace/service/callbacks/tokens';
import {
  choicesOf,
  clean,
  decideByLink,
  findApproval,
  obstacleOf,
  type Use,
} from '@millrace/service/callbacks/use';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { AppDeps } from '../../app-deps.ts';
import { sendPage } from '../pages/hosted-page.ts';
import { type Reader, readerOf } from '../pages/reader.ts';
import { type ApprovalPage, approvalPage, MAX_COMMENT, MAX_NAME } from './approval-page.ts';
import { CLOSED, named } from './approval-texts.ts';

type ByToken = { Params: { token: string } };

const COMMON = { public: true, callback: true, extension: true, produces: ['text/html'] } as const;

/** The page on which a person decides. Reading it decides nothing, because programs follow links in messages. */
export function approvalRoutes(app: FastifyInstance, deps: AppDeps): void {
  // In its own scope, because no other endpoint of this kind accepts forms.
  app.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, text, done) => done(null, Object.fromEntries(new URLSearchParams(text as string))),
    );
    addShow(scope, deps);
    addDecide(scope, deps);
  });
}

function addShow(app: FastifyInstance, { db }: AppDeps): void {
  // For people, not programs, so excluded from the API description.
  const schema = { hide: true, querystring: Type.Object({ choice: Type.Optional(Type.String()) }) };
  app.get<ByToken & { Querystring: { choice?: string } }>(
    '/api/v1/approvals/:token',
    { config: COMMON, schema },
    async (request, reply) => {
      const hash = hashToken(request.params.token);
      const row = hash === null ? undefined : await findApproval(db, hash);
      if (row === undefined) {
        request.forgetSecret?.();
        return sendClosed(reply, 'unknown');
      }
      const obstacle = obstacleOf(row);
      if (obstacle !== null) return sendClosed(reply, obstacle, row);
      return send(reply, 200, openPage(row, { ready: request.query.choice ?? null, problem: null }));
    },
  );
}

const DecisionForm = Type.Object({
  choice: Type.Optional(Type.String()),
  comment: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
});

function addDecide(app: FastifyInstance, { db }: AppDeps): void {
  const schema = { hide: true, body: DecisionForm };
  app.post<ByToken & { Body: { choice?: string; comment?: string; name?: string } }>(
    '/api/v1/approvals/:token',
    { config: { ...COMMON, emptyBodyIsObject: true }, schema },
    async (request, reply) => {
      const hash = hashToken(request.params.token);
      if (hash === null) {
        request.forgetSecret?.();
        return sendClosed(reply, 'unknown');
      }
      const { choice = '', comment = '', name = '' } = request.body;
      const decidedBy = { via: 'link', name: clean(name, MAX_NAME) || null } as const;
      const decision = { choice, comment: clean(comment, MAX_COMMENT), decidedBy };
      const use = await decideByLink(db, hash, decision);
      if (use === 'unknown') request.forgetSecret?.();
      const row = await findApproval(db, hash);
      if (use === 'accepted') return sendClosed(reply, 'accepted', row);
      if (use !== 'no_such_choice' || row === undefined) {
        return sendClosed(reply, use === 'no_such_choice' ? 'unknown' : use, row);
      }
      const problem = readerOf(request.headers).say(message('approval.press_button'));
      return send(reply, 422, openPage(row, { ready: null, problem }));
    },
  );
}

function openPage(row: CallbackRow, shown: { ready: string | null; problem: string | null }): ApprovalPage {
  const { title, message: text, expires_at: expiresAt } = row;
  return { kind: 'open', title, message: text, choices: choicesOf(row), expiresAt, ...shown };
}

const STATUSES: Record<Use, number> = { accepted: 200, unknown: 404, used: 409, ended: 409, expired: 410 };

function sendClosed(reply: FastifyReply, use: Use, row?: CallbackRow): FastifyReply {
  const reader = readerOf(reply.request.headers);
  const said = CLOSED[use](row === undefined ? '' : decisionOf(row, reader));
  const [heading, text] = [reader.say(said.heading), reader.say(said.text)];
  // An unknown address must not reveal what was asked.
  const isKnown = use !== 'unknown' && row !== undefined;
  const page = isKnown
    ? { title: row.title, heading, text: `${row.title}\n\n${text}` }
    : { title: heading, heading, text };
  return send(reply, STATUSES[use], { kind: 'closed', ...page });
}

function decisionOf(row: CallbackRow, reader: Reader): string {
  const choice = choicesOf(row).find(({ id }) => id === row.decision);
  return choice === undefined ? '' : named(choice, reader).label;
}

function send(reply: FastifyReply, status: number, page: ApprovalPage): FastifyReply {
  return sendPage(reply, status, (reader) => approvalPage(page, reader));
}
