import type { ChatServiceName, CredentialOf, HttpResponse, JsonValue } from '@millrace/engine';

export type ChatCredential = CredentialOf<'chat'>;

export const COLORS = ['info', 'success', 'warning', 'error'] as const;
export type ChatColor = (typeof COLORS)[number];

/** The content of a message, independent of the service. */
export interface ChatMessage {
  /** The recipient, for services and credentials that require one. */
  readonly channel: string | null;
  readonly text: string;
  readonly title: string | null;
  readonly fields: readonly { readonly label: string; readonly value: string }[];
  readonly link: { readonly text: string; readonly url: string } | null;
  readonly color: ChatColor | null;
  /** The message or thread to reply to. */
  readonly thread: string | null;
  /** Text such as `@everyone` mentions people only when this is set. */
  readonly allowMentions: boolean;
  /** 64 hexadecimal digits, the same for every attempt: for services that drop duplicates. */
  readonly onceKey: string;
}

/** One POST. */
export interface ChatRequest {
  readonly url: string;
  /** The URL without secrets. */
  readonly shownUrl: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  /** Names in `headers` with secret values. */
  readonly secretHeaders: readonly string[];
}

/** The meaning of a response. */
export type ChatOutcome =
  | { readonly kind: 'sent'; readonly messageId: string | null }
  | {
      readonly kind: 'refused';
      readonly code: 'chat_rate_limited' | 'chat_auth_failed' | 'chat_refused' | 'chat_unavailable';
      /** The service's reason, short. */
      readonly reason: string;
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
    };

/** A response with its body parsed as JSON if possible, else as text, else null. */
export interface ChatAnswer {
  readonly response: HttpResponse;
  readonly body: JsonValue;
  readonly nowMs: number;
}

/** The adapter of one chat service. */
export interface ChatService {
  readonly name: ChatServiceName;
  /** Display name. */
  readonly label: string;
  /** @throws NodeProblem when the service can't send the message or use the credential */
  compose(message: ChatMessage, credential: ChatCredential): ChatRequest;
  read(answer: ChatAnswer): ChatOutcome;
}
