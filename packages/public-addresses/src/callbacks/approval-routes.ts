import { message } from '@millrace/messages';
import type { CallbackRow } from '@millrace/service/callbacks/store';
import { hashToken } from '@millrace/service/callbacks/tokens';
import {
  choicesOf,
  clean,
  decideByLink,
  fieldsOf,
  findApproval,
  obstacleOf,
  type Use,
} from '@millrace/service/callbacks/use';
import type { FormField } from '@millrace/triggers';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Static, Type } from 'typebox';
import type { AddressDeps } from '../deps.ts';
import type { Entered } from '../pages/fields.ts';
import { sendPage } from '../pages/hosted-page.ts';
import { type Reader, readerOf } from '../pages/reader.ts';
import { type ApprovalPage, approvalPage, FIELD_PREFIX, MAX_COMMENT, MAX_NAME } from './approval-page.ts';
import { CLOSED, named } from './approval-texts.ts';

type ByToken = { Params: { token: string } };

const COMMON = { public: true, callback: true, extension: true, produces: ['text/html'] } as const;

/** The page on which a person decides. Reading it decides nothing, because programs follow links in messages. */
export function approvalRoutes(app: FastifyInstance, deps: AddressDeps): void {
  // In its own scope, because no other endpoint of this kind accepts forms.
  app.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, text, done) => done(null, readForm(new URLSearchParams(text as string))),
    );
    addShow(scope, deps);
    addDecide(scope, deps);
  });
}

function addShow(app: FastifyInstance, { db }: AddressDeps): void {
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
      const answers = presetsOf(fieldsOf(row));
      const shown = { ready: request.query.choice ?? null, entered: { comment: '', name: '', answers } };
      return send(reply, 200, openPage(row, shown));
    },
  );
}

const DecisionForm = Type.Object({
  choice: Type.Optional(Type.String()),
  comment: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  answers: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
});
type DecisionForm = Static<typeof DecisionForm>;

/** Fields of the author may have the names of the page's own, so they are set apart. */
function readForm(params: URLSearchParams): DecisionForm {
  const answers = new Map<string, string[]>();
  const own: { [name: string]: string } = {};
  for (const [name, text] of params) {
    if (!name.startsWith(FIELD_PREFIX)) own[name] = text;
    else {
      const field = name.slice(FIELD_PREFIX.length);
      answers.set(field, [...(answers.get(field) ?? []), text]);
    }
  }
  const { choice, comment, name } = own;
  return {
    ...(choice === undefined ? {} : { choice }),
    ...(comment === undefined ? {} : { comment }),
    ...(name === undefined ? {} : { name }),
    answers: Object.fromEntries(answers),
  };
}

/** What is filled in beforehand by the author. */
function presetsOf(fields: readonly FormField[]): Entered {
  return new Map(fields.flatMap(({ name, value }) => (value === '' ? [] : [[name, [value]] as const])));
}

function addDecide(app: FastifyInstance, { db }: AddressDeps): void {
  const schema = { hide: true, body: DecisionForm };
  app.post<ByToken & { Body: DecisionForm }>(
    '/api/v1/approvals/:token',
    { config: { ...COMMON, emptyBodyIsObject: true }, schema },
    async (request, reply) => {
      const hash = hashToken(request.params.token);
      if (hash === null) {
        request.forgetSecret?.();
        return sendClosed(reply, 'unknown');
      }
      const { choice = '', comment = '', name = '', answers = {} } = request.body;
      const decidedBy = { via: 'link', name: clean(name, MAX_NAME) || null } as const;
      const decision = { choice, comment: clean(comment, MAX_COMMENT), decidedBy, given: answers };
      const use = await decideByLink(db, hash, decision);
      if (use === 'unknown') request.forgetSecret?.();
      const row = await findApproval(db, hash);
      if (use === 'accepted') return sendClosed(reply, 'accepted', row);
      if (typeof use === 'string' && use !== 'no_such_choice') return sendClosed(reply, use, row);
      if (row === undefined) return sendClosed(reply, 'unknown');
      const faults = typeof use === 'string' ? [] : use.faults;
      const said =
        faults.length === 0
          ? message('approval.press_button')
          : message('form.faults', { count: faults.length });
      const entered = { comment, name, answers: new Map(Object.entries(answers)) };
      const problem = readerOf(request.headers).say(said);
      return send(
        reply,
        422,
        openPage(row, { ready: choice === '' ? null : choice, problem, entered, faults }),
      );
    },
  );
}

type Open = Extract<ApprovalPage, { kind: 'open' }>;

function openPage(
  row: CallbackRow,
  {
    problem = null,
    faults = [],
    ...shown
  }: Pick<Open, 'ready' | 'entered'> & Partial<Pick<Open, 'problem' | 'faults'>>,
): ApprovalPage {
  const { title, message: text, expires_at: expiresAt } = row;
  const asked = { title, message: text, choices: choicesOf(row), fields: fieldsOf(row) };
  return { kind: 'open', ...asked, expiresAt, problem, faults, ...shown };
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
