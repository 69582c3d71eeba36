import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { Closed, Nullable, Timestamp } from './forms.ts';

export const HostedChat = Closed({
  url: Type.String(),
  /** HTML that shows the chat on the websites of `origins`. */
  snippet: Type.String(),
  /** Websites that may show it. */
  origins: Type.Array(Type.String()),
  /** Whether it is shown, and a message starts the workflow; see `reason`. */
  is_open: Type.Boolean(),
  reason: Nullable(
    Type.Enum(['no_chat_trigger', 'workflow_inactive', 'workflow_archived'], { type: 'string' }),
  ),
  /** Former URLs that still work, latest first. */
  previous: Type.Array(Closed({ url: Type.String(), valid_until: Timestamp })),
});
export type HostedChat = Static<typeof HostedChat>;

/** What models remember of a conversation. */
export const Memory = Closed({
  key: Type.String(),
  turns: Type.Integer({ minimum: 0 }),
  has_summary: Type.Boolean(),
  bytes: Type.Integer({ minimum: 0 }),
  updated_at: Timestamp,
  expires_at: Timestamp,
});
export type Memory = Static<typeof Memory>;

export const CHAT_ENDPOINTS = {
  'GET /orgs/:org/workflows/:id/chat': {
    access: 'viewer',
    summary: 'URL of the hosted chat, and how other websites show it',
    response: HostedChat,
  },
  'GET /orgs/:org/workflows/:id/memories': {
    access: 'viewer',
    summary: 'What models remember: the conversations of the workflow that were used last, at most 50',
    response: Closed({ items: Type.Array(Memory), has_more: Type.Boolean() }),
  },
  'POST /orgs/:org/workflows/:id/memories/forget': {
    access: 'editor',
    summary: 'Forget a conversation, or all of the workflow',
    body: Closed({
      /** Null: all. */
      key: Nullable(Type.String({ minLength: 1, maxLength: 255 })),
    }),
    response: Closed({ forgotten: Type.Integer({ minimum: 0 }) }),
  },
} as const satisfies Endpoints;
