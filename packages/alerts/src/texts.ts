import type { AlertKind, AlertLanguage } from '@millrace/admin-api';
import { type JsonObject, parseJson, readError } from '@millrace/engine';
import { type Message, message, verbatim } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { inJapanese } from '@millrace/messages/japanese';
import type { IncidentRow } from './message-store.ts';

const LANGUAGES: { readonly [L in AlertLanguage]: (said: Message) => string } = {
  en: inEnglish,
  ja: inJapanese,
};

/** Code of an incident about a credential whose connection the service has ended; also that of nodes which fail because of it. */
export const DISCONNECTED = 'credential_disconnected';

/** Longest name and reason shown: some services refuse long messages as a whole. */
const MAX_NAME = 100;
const MAX_REASON = 300;

/** What a message is made from. */
export interface AlertContent {
  readonly ruleName: string;
  readonly kind: AlertKind;
  readonly isTest: boolean;
  readonly threshold: number | null;
  readonly seconds: number | null;
  readonly organisationId: number;
  readonly language: AlertLanguage;
  readonly incidents: readonly IncidentRow[];
  /** Subjects beyond those. */
  readonly more: number;
  /** Base of links, without a trailing slash. */
  readonly publicUrl: string;
}

export interface AlertText {
  /** A single line. */
  readonly title: string;
  /** One line for each incident. */
  readonly text: string;
  readonly link: { readonly text: string; readonly url: string };
  /** Whether something is wrong. */
  readonly isBad: boolean;
}

/** A message for people, in the rule's language. */
export function alertText(content: AlertContent): AlertText {
  const say = LANGUAGES[content.language];
  const rule = lineOf(content.ruleName, MAX_NAME);
  const lines = content.isTest
    ? [message('alert.test', { rule })]
    : content.incidents.map((incident) => describe(content, incident));
  const more = content.more > 0 ? [message('alert.more', { more: content.more })] : [];
  const title = content.isTest ? message('alert.test_title', { rule }) : message('alert.title', { rule });
  return {
    title: say(title),
    text: [...lines, ...more].map(say).join('\n'),
    link: { text: say(message('alert.open')), url: linkOf(content) },
    isBad: content.kind !== 'recovered' && !content.isTest,
  };
}

function describe({ kind, threshold, seconds }: AlertContent, incident: IncidentRow): Message {
  const workflow = lineOf(incident.name, MAX_NAME);
  const { occurrences: times } = incident;
  const duration = durationOf(seconds ?? 0);
  switch (kind) {
    case 'failure': {
      const { code, message: text } = failureOf(incident) ?? UNKNOWN;
      const reason = verbatim(text);
      return times === 1
        ? message('alert.failed', { workflow, code, reason })
        : message('alert.failed_often', { workflow, times, code, reason });
    }
    case 'failures': {
      const { code, message: text } = failureOf(incident) ?? UNKNOWN;
      const reason = verbatim(text);
      const failures = (threshold ?? 1) * times;
      return message('alert.failures', { failures, duration, workflow, code, reason });
    }
    case 'recovered':
      return message('alert.recovered', { workflow });
    case 'slow':
      return times === 1
        ? message('alert.slow', { workflow, duration })
        : message('alert.slow_often', { workflow, times, duration });
    case 'silent':
      return message('alert.silent', { workflow, duration, since: incident.last_at.toISOString() });
    case 'expiring': {
      const [name, until] = [workflow, incident.last_at.toISOString()];
      if (failureOf(incident)?.code === DISCONNECTED)
        return message('alert.credential_disconnected', { name });
      return incident.subject.startsWith('api_key:')
        ? message('alert.key_ends', { name, until })
        : message('alert.credential_ends', { name, until });
    }
  }
}

type Failure = { readonly code: string; readonly message: string };
const UNKNOWN: Failure = { code: '', message: '' };

function failureOf({ error }: IncidentRow): Failure | null {
  if (error === null) return null;
  const { code, message: said } = readError(parseJson(error));
  return { code, message: lineOf(inEnglish(said), MAX_REASON) };
}

/** In the largest unit that divides it. */
function durationOf(seconds: number): Message {
  if (seconds % 86_400 === 0) return message('alert.days', { n: seconds / 86_400 });
  if (seconds % 3_600 === 0) return message('alert.hours', { n: seconds / 3_600 });
  if (seconds % 60 === 0) return message('alert.minutes', { n: seconds / 60 });
  return message('alert.seconds', { n: seconds });
}

/** Names and reasons are other people's: no line breaks, and not too much of them. */
function lineOf(text: string, max: number): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  const letters = [...line];
  return letters.length <= max ? line : `${letters.slice(0, max - 1).join('')}…`;
}

/** The place in the admin area that shows more. */
function linkOf(content: AlertContent): string {
  const { publicUrl, organisationId, incidents, isTest } = content;
  const executionId = incidents[0]?.execution_id ?? null;
  return isTest || incidents.length > 1 || executionId === null
    ? `${publicUrl}/o/${organisationId}/alerts`
    : executionUrl(content, executionId);
}

function executionUrl({ publicUrl, organisationId }: AlertContent, id: number): string {
  return `${publicUrl}/o/${organisationId}/executions/${id}`;
}

/** The same for programs. */
export function alertPayload(content: AlertContent, ruleId: number): JsonObject {
  const { organisationId, incidents, more } = content;
  return {
    organisation_id: organisationId,
    is_test: content.isTest,
    rule: { id: ruleId, name: content.ruleName, kind: content.kind },
    incidents: incidents.map((incident): JsonObject => {
      const { workflow_id: workflowId, execution_id: executionId } = incident;
      return {
        subject: incident.subject,
        name: incident.name,
        workflow_id: workflowId,
        execution_id: executionId,
        execution_url: executionId === null ? null : executionUrl(content, executionId),
        occurrences: incident.occurrences,
        first_at: incident.first_at.toISOString(),
        last_at: incident.last_at.toISOString(),
        error: failureOf(incident),
      };
    }),
    more,
  };
}
