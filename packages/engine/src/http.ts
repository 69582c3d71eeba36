import type { Message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';
import type { FileValue } from './file-value.ts';

/** A streamed body, which is read again each time it is sent. */
export interface StreamedBody {
  readonly size: number;
  /** In hexadecimal, for signatures; null: unknown. */
  readonly sha256: string | null;
  read(): AsyncIterable<Uint8Array>;
}

/** Takes the body of a response while it arrives. */
export type SaveBody = (content: AsyncIterable<Uint8Array>) => Promise<FileValue>;

/** A request a node makes through the guarded client. `body` is sent unchanged. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Uint8Array | StreamedBody;
  /** Decides where a response's body goes; null or absent: into memory. A ServiceError that it throws is the call's. */
  readonly save?: (head: Pick<HttpResponse, 'status' | 'headers'>) => SaveBody | null;
  /** Limit of the whole exchange in milliseconds, redirects included. */
  readonly timeoutMs: number;
  /** Limit of the response's body in bytes, if it goes into memory; more is the failure `response_too_large`. */
  readonly maxResponseBytes: number;
  /** How many redirects are followed; 0 returns a 3xx response as is. */
  readonly maxRedirects: number;
  /** Presented to the host of the URL only, not to hosts that it redirects to. */
  readonly clientCertificate?: ClientCertificate;
}

/** All of it is PEM. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly privateKey: string;
  readonly passphrase: string | null;
  /** Trusted for this host in addition to the public authorities. */
  readonly authority: string | null;
}

/** Header names are lower case; several values of one name are joined by `, `, except Set-Cookie. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  /** Several cookies, which can't be joined by a comma (RFC 6265, 3); a single one is among the headers. */
  readonly setCookies?: readonly string[];
  /** Empty if it was saved. */
  readonly body: Uint8Array;
  /** Where the body is, if `save` took it. */
  readonly saved?: FileValue;
}

/** Why a guarded request got no response. `target_not_allowed` is final; the others may be retried. */
export type HttpErrorCode =
  | 'invalid_url'
  | 'target_not_allowed'
  | 'too_many_redirects'
  | 'response_too_large'
  | 'timeout'
  | 'connection_failed'
  | 'aborted';

/** Thrown by {@link HttpClient.send}. */
export class HttpClientError extends ExplainedError {
  readonly code: HttpErrorCode;
  constructor(code: HttpErrorCode, explanation: Message, options?: { readonly cause?: unknown }) {
    super(explanation, options);
    this.name = 'HttpClientError';
    this.code = code;
  }
}

/** Memory for the body of a response, out of a budget that the process shares. */
export interface ResponseRoom {
  /**
   * Reserves more of it, which is kept for as long as the caller may need the body.
   * @returns undefined if there is room; else a promise that resolves once there is, and rejects when the signal aborts
   */
  take(bytes: number, signal: AbortSignal): Promise<void> | undefined;
}

/** What a call does while too many are under way to its host, or the host wants a pause. */
export interface HostWait {
  /** Milliseconds that it may wait before it is put off; null: it never is. */
  readonly maxWaitMs: number | null;
  /** It starts waiting. @returns a function to call when it stops */
  begin(): () => void;
  /** It isn't made: its attempt has to be repeated after this many milliseconds. */
  putOff(host: string, afterMs: number): void;
  /** Called before it is made after a wait. @throws Error if nothing may be sent any more */
  checkLease(): void;
}

/** The only network access of nodes. The server's implementation refuses private targets. */
export interface HttpClient {
  /**
   * @param room for the response's body; absent: it isn't counted
   * @param wait absent: it waits for its turn for as long as it takes
   * @throws HttpClientError
   */
  send(
    request: HttpRequest,
    signal: AbortSignal,
    room?: ResponseRoom,
    wait?: HostWait,
  ): Promise<HttpResponse>;
}
