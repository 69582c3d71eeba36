import { listIncidents, listMessagesBelow } from '@millrace/alerts/message-store';
import { listRules } from '@millrace/alerts/rule-store';
import { addRule, changeRule, removeRule, requireRule } from '@millrace/alerts/rules';
import { sendTestMessage } from '@millrace/alerts/send';
import { pathId } from '@millrace/http/ids';
import { applyRateLimit, createRateLimiter } from '@millrace/http/rate-limit';
import { insertAudit } from '@millrace/identity/audit/store';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { createReadPage } from '../http/list.ts';
import { adminRoute } from '../http/route.ts';
import { presentAlert, presentRule } from './present.ts';

/** Incidents shown per message. */
const MAX_INCIDENTS = 5;

/** Alerts of an organisation: the rules, a test, and what was sent. */
export function alertRoutes(app: FastifyInstance, deps: AppDeps): void {
  addRules(app, deps);
  addTest(app, deps);
  addHistory(app, deps);
}

function addRules(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;

  adminRoute(app, deps, 'GET /orgs/:org/alert-rules', async ({ organisation: { id } }) => {
    const rows = await db.forOrganisation(id, (tx) => listRules(tx, id));
    const { rules: limit, messagesPerHour } = config.alerts;
    return { items: rows.map(presentRule), limit, messages_per_hour: messagesPerHour };
  });

  adminRoute(app, deps, 'POST /orgs/:org/alert-rules', async ({ organisation: { id }, actor, body }) =>
    presentRule(await addRule(deps, id, body, config.alerts, actor)),
  );

  adminRoute(
    app,
    deps,
    'PATCH /orgs/:org/alert-rules/:rule',
    async ({ organisation: { id }, actor, params, body }) => {
      const ruleId = pathId(params.rule, 'alert_rule');
      return presentRule(await changeRule(deps, id, ruleId, body, actor));
    },
  );

  adminRoute(
    app,
    deps,
    'DELETE /orgs/:org/alert-rules/:rule',
    async ({ organisation: { id }, actor, params }) => {
      await removeRule(deps, id, pathId(params.rule, 'alert_rule'), actor);
    },
  );
}

/** Per organisation: each test calls out. */
const TESTS_PER_MINUTE = 10;

function addTest(app: FastifyInstance, deps: AppDeps): void {
  const { db, config } = deps;
  const limiter = createRateLimiter(TESTS_PER_MINUTE);

  adminRoute(
    app,
    deps,
    'POST /orgs/:org/alert-rules/:rule/test',
    async ({ organisation: { id }, actor, params, reply }) => {
      const ruleId = pathId(params.rule, 'alert_rule');
      const rule = await db.forOrganisation(id, (tx) => requireRule(tx, id, ruleId));
      applyRateLimit(limiter, 'alert-tests', String(id), reply);
      const details = { alert_rule_id: ruleId, name: rule.name, channel: rule.channel };
      await insertAudit(db, { organisationId: id, action: 'alert_rule.tested', by: actor, details });
      const messageId = await sendTestMessage({ ...deps, publicUrl: () => config.publicUrl }, id, ruleId);
      const [row] = await db.forOrganisation(id, (tx) => listMessagesBelow(tx, id, messageId + 1, 1));
      if (row === undefined) throw new Error(`the test alert ${messageId} is gone`);
      return presentAlert(row, []);
    },
  );
}

function addHistory(app: FastifyInstance, deps: AppDeps): void {
  const { db } = deps;
  const readPage = createReadPage(deps);

  adminRoute(app, deps, 'GET /orgs/:org/alerts', async (call) => {
    const { id } = call.organisation;
    const read = (belowId: number | null, limit: number) =>
      db.forOrganisation(id, async (tx) => {
        const rows = await listMessagesBelow(tx, id, belowId, limit);
        const ids = rows.map((row) => row.id);
        const incidents = await listIncidents(tx, ids, MAX_INCIDENTS);
        return rows.map((row) => ({ id: row.id, alert: presentAlert(row, incidents) }));
      });
    return readPage(call, { read, present: ({ alert }) => alert });
  });
}
