import type { ChatServiceName, CredentialOf, HttpResponse, JsonValue } from '@millrace/engine';
import type { Message } from '@millrace/messages';

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
  /** There is nothing but text. */
  readonly isPlain: boolean;
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

/** What is posted: JSON, or a form. */
export interface ChatPost {
  readonly body: JsonValue | URLSearchParams;
  readonly headers?: { readonly [name: string]: string };
}

/** A channel as its service lists it. */
export interface ChatChannel {
  readonly id: string;
  readonly name: string;
  /** The server or workspace it belongs to, where a token reaches several. */
  readonly group: string | null;
}

/** One request for channels. */
export interface ChannelQuery {
  readonly path: string;
  /** Of the channels in the response. */
  readonly group: string | null;
}

/** Channels, and what else has to be requested. */
export interface ChannelPage {
  readonly channels: readonly ChatChannel[];
  readonly more: readonly ChannelQuery[];
}

/** A service's API, which requires a token and a channel. */
export interface ChatApi {
  /** Null: every server is its users' own. */
  readonly base: string | null;
  /** A header with the token behind a scheme, or the path that the token is appended to. */
  readonly auth:
    | { readonly header: string; readonly scheme: string }
    | { readonly path: string; readonly form: RegExp; readonly rule: Message };
  readonly channel: {
    readonly what: Message;
    /** The form of its id, and what to say of another one. */
    readonly form?: RegExp;
    readonly rule?: Message;
  };
  /** A request that changes nothing and succeeds only with valid authentication. */
  readonly probe: {
    readonly path: string;
    readonly method?: 'POST';
    /** A token that may send but lacks the scope for this request gets a 403. */
    readonly mayBeForbidden?: true;
  };
  /** How channels are listed; absent: the service has no such list. */
  readonly channels?: {
    readonly path: string;
    /** Null: an error, which the service's `read` explains. */
    read(body: JsonValue, query: ChannelQuery): ChannelPage | null;
  };
  /** @throws NodeProblem */
  post(message: ChatMessage, channel: string): ChatPost & { readonly path: string };
}

/** One chat service: how it takes messages, and how it responds. */
export interface ChatService {
  readonly name: ChatServiceName;
  /** Display name. */
  readonly label: string;
  /** Says what a credential needs. */
  readonly needs: Message;
  /** False: it has no replies. */
  readonly hasThreads?: false;
  /** Of the whole request. */
  readonly maxBytes?: number;
  readonly webhook?: {
    /** The service's own hosts; `.example.com` matches every subdomain. None: every server is its users' own. */
    readonly hosts: readonly string[];
    /** A message may name another channel than the webhook's. */
    readonly takesChannel?: true;
    /** A GET of the URL, without its query, shows whether it is valid. */
    readonly canBeRead?: true;
    /** @param url may be modified. @throws NodeProblem */
    post(message: ChatMessage, url: URL): ChatPost;
  };
  readonly api?: ChatApi;
  read(answer: ChatAnswer): ChatOutcome;
}
