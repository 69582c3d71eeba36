import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { AnyObject, Closed, explanation, Nullable, Sentence, Timestamp } from './forms.ts';

/** The polling of a workflow's trigger. */
export const Polling = Closed({
  /** Whether it keeps a connection instead of polling; then a poll is a connection, or what it received. */
  listens: Type.Boolean(),
  /** Nothing is received then. */
  is_test_mode: Type.Boolean(),
  /** Whether a poll is running. */
  is_polling: Type.Boolean(),
  /** Null while the workflow isn't active. */
  next_poll_at: Nullable(Timestamp),
  last_poll_at: Nullable(Timestamp),
  last_success_at: Nullable(Timestamp),
  /** Executions that the last successful poll started. */
  last_started: Type.Integer(),
  /** Executions that were started since polling began. */
  started: Type.Integer(),
  /** Polls that have failed since the last successful one. */
  failures: Type.Integer(),
  /** Of the last poll; null if nothing was wrong. */
  last_error: Nullable(Closed({ code: Type.String(), ...Sentence.properties })),
});
export type Polling = Static<typeof Polling>;

/** The webhook of a workflow. */
export const Webhook = Closed({
  url: Type.String(),
  hash: Type.String(),
  /**
   * A command to try it with; its body is the sample, if there is one. If signatures are required, it signs with a secret that the user
   * inserts.
   */
  curl: Type.String(),
  /** Whether a call currently starts the workflow; see `reason`. */
  is_open: Type.Boolean(),
  /** Why no call starts it: the saved version has no webhook trigger, or the workflow is inactive or archived. */
  reason: Nullable(
    Type.Enum(['no_webhook_trigger', 'workflow_inactive', 'workflow_archived'], { type: 'string' }),
  ),
  /** How the saved version's trigger verifies signatures; null: it doesn't. */
  signature: Nullable(
    Closed({
      preset: Type.String(),
      credential_id: Type.Integer(),
      previous_credential_id: Nullable(Type.Integer()),
      tolerance_s: Type.Integer(),
      header: Type.String(),
    }),
  ),
  /** Former hashes that still work, latest first. */
  previous: Type.Array(Closed({ url: Type.String(), hash: Type.String(), valid_until: Timestamp })),
});
export type Webhook = Static<typeof Webhook>;

export const HostedForm = Closed({
  url: Type.String(),
  /** HTML that shows the form on the websites of `origins`. */
  snippet: Type.String(),
  /** Websites that may show it. */
  origins: Type.Array(Type.String()),
  /** Whether it is shown, and a submission starts the workflow; see `reason`. */
  is_open: Type.Boolean(),
  reason: Nullable(
    Type.Enum(['no_form_trigger', 'workflow_inactive', 'workflow_archived'], { type: 'string' }),
  ),
  /** Former URLs that still work, latest first. */
  previous: Type.Array(Closed({ url: Type.String(), valid_until: Timestamp })),
});
export type HostedForm = Static<typeof HostedForm>;

/** Which trigger of a workflow; absent: the first of the kind. */
const OfTrigger = Closed({ node: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })) });

/** What starts a workflow besides the API: addresses, polls and schedules. */
export const TRIGGER_ENDPOINTS = {
  'GET /orgs/:org/workflows/:id/webhook': {
    access: 'viewer',
    summary: 'URL and settings of the webhook',
    query: OfTrigger,
    response: Webhook,
  },
  'POST /orgs/:org/workflows/:id/webhook/regenerate': {
    access: 'editor',
    summary: 'Create a new hash; the old one works for 24 more hours unless it is to end now',
    query: OfTrigger,
    body: Closed({ ends_previous_now: Type.Optional(Type.Boolean()) }),
    response: Webhook,
  },
  'GET /orgs/:org/workflows/:id/form': {
    access: 'viewer',
    summary: 'URL of the hosted form, and how other websites show it',
    query: OfTrigger,
    response: HostedForm,
  },
  'GET /orgs/:org/workflows/:id/polling': {
    access: 'viewer',
    summary: 'When the trigger of a workflow polls, and how its last poll ended. Null if it never polled',
    query: OfTrigger,
    response: Closed({ polling: Nullable(Polling) }),
  },
  'POST /orgs/:org/workflows/:id/polling': {
    access: 'editor',
    summary: 'Poll now. 409 workflow_inactive if the workflow does not poll',
    query: OfTrigger,
    response: Closed({ polling: Polling }),
  },
  'POST /orgs/:org/schedule-previews': {
    access: 'viewer',
    summary: 'The next ten fire times of a schedule trigger with this config',
    body: Closed({ config: AnyObject }),
    response: Closed({
      /** Empty if it never fires or the config isn't valid. */
      fires: Type.Array(Timestamp),
      /** IANA name of the time zone it follows; null if the config isn't valid. */
      timezone: Nullable(Type.String()),
      /** Errors in the config; pointers are relative to it. */
      faults: Type.Array(
        Closed({ pointer: Type.String(), code: Type.String(), message: Type.String(), ...explanation }),
      ),
    }),
  },
} as const satisfies Endpoints;
