import type { ChatServiceName, CredentialOf, HttpResponse, JsonValue } from '@millrace/engine';
import type { Message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';

export type ChatCredential = CredentialOf<'chat'>;

export const COLORS = ['info', 'success', 'warning', 'error'] as const;
export type ChatColor = (typeof COLORS)[number];

/** What is to be said, in words that every service knows. */
export interface ChatMessage {
  /** Where to, for services and credentials that need to be told. */
  readonly channel: string | null;
  readonly text: string;
  readonly title: string | null;
  readonly fields: readonly { readonly label: string; readonly value: string }[];
  readonly link: { readonly text: string; readonly url: string } | null;
  readonly color: ChatColor | null;
  /** The message or thread that is answered. */
  readonly thread: string | null;
  /** Texts such as `@everyone` call people only when this is set. */
  readonly allowMentions: boolean;
  /** 64 hexadecimal digits, the same for every attempt: for services that drop a repeat. */
  readonly onceKey: string;
}

/** One POST. */
export interface ChatRequest {
  readonly url: string;
  /** The address as it may be shown: without what gives access. */
  readonly shownUrl: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  /** Names in `headers` that give access. */
  readonly secretHeaders: readonly string[];
}

/** What an answer means. */
export type ChatOutcome =
  | { readonly kind: 'sent'; readonly messageId: string | null }
  | {
      readonly kind: 'refused';
      readonly code: 'chat_rate_limited' | 'chat_auth_failed' | 'chat_refused' | 'chat_unavailable';
      /** What the service says about it, short. */
      readonly reason: string;
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
    };

/** An answer with its body read as JSON where it is some, else as text, else null. */
export interface ChatAnswer {
  readonly response: HttpResponse;
  readonly body: JsonValue;
  readonly nowMs: number;
}

/** How one chat service is spoken to. */
export interface ChatService {
  readonly name: ChatServiceName;
  /** As people write it. */
  readonly label: string;
  /** @throws ChatProblem when the message or the credential does not fit the service */
  compose(message: ChatMessage, credential: ChatCredential): ChatRequest;
  read(answer: ChatAnswer): ChatOutcome;
}

/** Nothing can be sent; the explanation says why and what to do. */
export class ChatProblem extends ExplainedError {
  readonly code: 'invalid_config' | 'invalid_credential' | 'message_too_long';
  constructor(code: ChatProblem['code'], explanation: Message) {
    super(explanation);
    this.code = code;
  }
}
