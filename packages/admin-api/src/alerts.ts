import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { Closed, Id, Nullable, PageOf, pageQuery, Sentence, Timestamp } from './forms.ts';

/** What a rule tells about. */
export const ALERT_KINDS = ['failure', 'failures', 'recovered', 'slow', 'silent', 'expiring'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

export const ALERT_CHANNELS = ['mail', 'chat', 'webhook'] as const;
export type AlertChannel = (typeof ALERT_CHANNELS)[number];

const kind = Type.Enum([...ALERT_KINDS], { type: 'string' });
const channel = Type.Enum([...ALERT_CHANNELS], { type: 'string' });
const Seconds = Type.Integer({ minimum: 1, maximum: 31_622_400 });

/** Where its messages go; which members are needed depends on the channel. */
const Target = Closed({
  /** A mail server, a chat service, or the secret that signs webhooks. */
  credential_id: Id,
  /** Of mail: the sender. */
  from: Type.Optional(Type.String({ maxLength: 300 })),
  /** Of mail: the recipients, separated by commas. Of chat: the channel; empty if the credential has one. */
  to: Type.Optional(Type.String({ maxLength: 2_000 })),
  /** Of a webhook. */
  url: Type.Optional(Type.String({ maxLength: 2_048 })),
});
export type AlertTarget = Static<typeof Target>;

const Minute = Type.Integer({ minimum: 0, maximum: 1439 });

const form = {
  name: Type.String({ minLength: 1, maxLength: 255 }),
  kind,
  /** Null: all workflows of the organisation. */
  workflow_id: Nullable(Id),
  /** Of `failures`: how many. */
  count: Nullable(Type.Integer({ minimum: 2, maximum: 1_000 })),
  /** Of `failures`: within; `slow`: longer than; `silent`: not started for; `expiring`: before the end. */
  seconds: Nullable(Seconds),
  channel,
  target: Target,
  /** Of its messages. */
  language: Type.Enum(['en', 'ja'], { type: 'string' }),
  /** Between two messages; the next one reports what happened meanwhile. */
  group_seconds: Type.Integer({ minimum: 0, maximum: 604_800 }),
  /** No messages then; minutes since midnight in the organisation's time zone. */
  quiet_hours: Nullable(Closed({ from: Minute, to: Minute })),
  is_enabled: Type.Boolean(),
};
const AlertRuleForm = Closed(form);
export type AlertRuleForm = Static<typeof AlertRuleForm>;
export type AlertLanguage = AlertRuleForm['language'];

export const AlertRule = Closed({
  id: Id,
  ...form,
  workflow_name: Nullable(Type.String()),
  created_at: Timestamp,
  /** What happened since its last message. */
  waiting: Type.Integer({ minimum: 0 }),
  /** When the next message may be sent; null if nothing waits. */
  next_message_at: Nullable(Timestamp),
});
export type AlertRule = Static<typeof AlertRule>;

/** A message as it was sent, or is about to be. */
export const AlertMessage = Closed({
  id: Id,
  /** Null: the rule was deleted. */
  rule_id: Nullable(Id),
  rule_name: Type.String(),
  kind,
  channel,
  is_test: Type.Boolean(),
  /** How often what it tells about happened. */
  occurrences: Type.Integer({ minimum: 0 }),
  /** The most frequent of it. */
  incidents: Type.Array(
    Closed({
      name: Type.String(),
      workflow_id: Nullable(Id),
      /** The last one. */
      execution_id: Nullable(Id),
      occurrences: Type.Integer({ minimum: 1 }),
      first_at: Timestamp,
      last_at: Timestamp,
    }),
  ),
  status: Type.Enum(['pending', 'sent', 'failed'], { type: 'string' }),
  attempts: Type.Integer({ minimum: 0 }),
  /** Of the next attempt; null if it has ended. */
  next_attempt_at: Nullable(Timestamp),
  created_at: Timestamp,
  ended_at: Nullable(Timestamp),
  /** Why the last attempt failed. */
  error: Nullable(Closed({ code: Type.String(), ...Sentence.properties })),
});
export type AlertMessage = Static<typeof AlertMessage>;

export const ALERT_ENDPOINTS = {
  'GET /orgs/:org/alert-rules': {
    access: 'org_admin',
    summary: 'Rules of when the organisation is alerted, the oldest first, and how many it may have',
    response: Closed({
      items: Type.Array(AlertRule),
      limit: Type.Integer({ minimum: 0 }),
      /** Messages that the organisation may get in an hour. */
      messages_per_hour: Type.Integer({ minimum: 1 }),
    }),
  },
  'POST /orgs/:org/alert-rules': {
    access: 'org_admin',
    summary: 'Add a rule',
    body: AlertRuleForm,
    response: AlertRule,
  },
  'PATCH /orgs/:org/alert-rules/:rule': {
    access: 'org_admin',
    summary: 'Change a rule; omitted members keep their values',
    body: Type.Partial(AlertRuleForm),
    response: AlertRule,
  },
  'DELETE /orgs/:org/alert-rules/:rule': {
    access: 'org_admin',
    summary: 'Delete a rule; its history is kept',
  },
  'POST /orgs/:org/alert-rules/:rule/test': {
    access: 'org_admin',
    summary: 'Send a test alert now',
    response: AlertMessage,
  },
  'GET /orgs/:org/alerts': {
    access: 'org_admin',
    summary: 'Alerts that were sent, are about to be or could not be, latest first',
    query: Closed(pageQuery),
    response: PageOf(AlertMessage),
  },
} as const satisfies Endpoints;
