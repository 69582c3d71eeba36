import { normalisePem } from '@millrace/egress/pem';
import {
  type AuthenticatedRequest,
  type HttpClient,
  type HttpCredential,
  type HttpRequest,
  type HttpResponse,
  ServiceError,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { reasonOf } from '@millrace/messages/explained-error';
import {
  type SignedRequest,
  shownRequest,
  signSimply,
  withHeaders,
} from '@millrace/node-kit/http/credential';
import type { Token, TokenSource } from '../oauth/tokens.ts';
import type { SealedRow } from '../store.ts';
import { awsHeaders } from './aws.ts';
import { digestHeader } from './digest.ts';
import { signJwt } from './jwt.ts';

/** What authenticating requests needs from the process. */
export interface Authenticator {
  readonly http: HttpClient;
  readonly tokens: TokenSource;
  readonly now: () => number;
  /** Called with whatever is a secret in a request and isn't among the credential's own. */
  readonly onSecret: (secret: string) => void;
}

/**
 * A request authenticated by an opened credential.
 * @throws NodeProblem when the request has what the credential would add
 */
export function authenticateRequest(
  row: SealedRow,
  credential: HttpCredential,
  request: HttpRequest,
  using: Authenticator,
): AuthenticatedRequest {
  const send = (each: HttpRequest, signal: AbortSignal) => using.http.send(each, signal);
  switch (credential.type) {
    case 'bearer':
    case 'basic':
    case 'header':
    case 'query': {
      const signed = signSimply(request, credential);
      return { shown: shownRequest(signed), send: (signal) => send(signed.request, signal) };
    }
    case 'oauth2':
    case 'google_service_account': {
      const find: FindToken = (signal, refused) => using.tokens.find({ row, credential }, signal, refused);
      const header = credential.type === 'oauth2' ? credential.token_header : null;
      const carry = (token: string) => withHeaders(request, tokenHeader(header, token));
      return {
        shown: shownRequest(carry('')),
        send: (signal) => sendWithToken((token) => carry(token).request, find, using, signal),
      };
    }
    case 'jwt': {
      return {
        shown: withSecretHeader(request),
        async send(signal) {
          const token = await signing(row, () => signJwt(credential, using.now()));
          using.onSecret(token);
          return send(withHeaders(request, { authorization: `Bearer ${token}` }).request, signal);
        },
      };
    }
    case 'aws': {
      return {
        shown: withSecretHeader(request),
        async send(signal) {
          const datetime = new Date(using.now()).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
          const headers = await signing(row, () => awsHeaders(credential, request, datetime));
          return send(withHeaders(request, headers).request, signal);
        },
      };
    }
    case 'digest':
      return {
        shown: withSecretHeader(request),
        async send(signal) {
          const refusal = await send(request, signal);
          if (refusal.status !== 401) return refusal;
          const authorization = digestHeader(credential, request, refusal.headers['www-authenticate'] ?? '');
          if (authorization === undefined) return refusal;
          return send(withHeaders(request, { authorization }).request, signal);
        },
      };
    case 'client_certificate': {
      const { certificate, private_key: key, passphrase, authority } = credential;
      const clientCertificate = {
        certificate: normalisePem(certificate),
        privateKey: normalisePem(key),
        passphrase,
        authority: authority === null ? null : normalisePem(authority),
      };
      const signed: SignedRequest = {
        request: { ...request, clientCertificate },
        hidden: { headers: [], parameters: [] },
      };
      return { shown: shownRequest(signed), send: (signal) => send(signed.request, signal) };
    }
  }
}

/** The header with a token. @param header the one that carries it by itself, if there is one */
function tokenHeader(header: string | null, token: string): { readonly [name: string]: string } {
  return header === null ? { authorization: `Bearer ${token}` } : { [header.toLowerCase()]: token };
}

type FindToken = (signal: AbortSignal, refused?: number) => Promise<Token | null>;

/** With a token, and once more with another if the server doesn't accept it. */
async function sendWithToken(
  carry: (token: string) => HttpRequest,
  find: FindToken,
  { http, onSecret }: Authenticator,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const attempt = (token: Token): Promise<HttpResponse> => {
    for (const secret of token.secrets) onSecret(secret);
    return http.send(carry(token.text), signal);
  };
  const token = await find(signal);
  if (token === null) throw new Error('a token is only missing after it was refused');
  const response = await attempt(token);
  if (response.status !== 401) return response;
  const next = await find(signal, token.generation);
  return next === null ? response : attempt(next);
}

/** What is shown of a request whose Authorization header is made when it is sent. */
function withSecretHeader(request: HttpRequest): AuthenticatedRequest['shown'] {
  return shownRequest(withHeaders(request, { authorization: '' }));
}

/** A key that can't be read is a fault of the credential. */
async function signing<T>({ id, name }: SealedRow, sign: () => Promise<T>): Promise<T> {
  try {
    return await sign();
  } catch (error) {
    const reason = reasonOf(error);
    throw new ServiceError('invalid_credential', message('ports.signing_failed', { id, name, reason }), {
      cause: error,
    });
  }
}
