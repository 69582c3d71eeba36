import type { HttpRequest, HttpResponse } from './http.ts';

/** Types that authenticate HTTP requests. All of them are bound to the hosts they may be sent to. */
export const HTTP_CREDENTIAL_TYPES = [
  'bearer',
  'basic',
  'header',
  'query',
  'digest',
  'oauth2',
  'google_service_account',
  'aws',
  'jwt',
  'client_certificate',
] as const;
export const CREDENTIAL_TYPES = [
  ...HTTP_CREDENTIAL_TYPES,
  'secret',
  'smtp',
  'imap',
  'sql',
  'redis',
  'mqtt',
  'kafka',
  'ai',
  'chat',
] as const;
/** Kinds of servers that a credential of the type `sql` signs in to. */
export const DATABASE_KINDS = ['postgresql', 'mysql', 'sqlserver', 'mongodb'] as const;
export type DatabaseKind = (typeof DATABASE_KINDS)[number];

export type CredentialType = (typeof CREDENTIAL_TYPES)[number];

/** Chat services that messages can be sent to. */
export const CHAT_SERVICES = [
  'slack',
  'teams',
  'discord',
  'google_chat',
  'mattermost',
  'telegram',
  'line',
  'chatwork',
] as const;
export type ChatServiceName = (typeof CHAT_SERVICES)[number];

/** The wire format of a model's server. */
export const AI_PROVIDERS = ['openai_compatible', 'anthropic', 'google'] as const;
export type AiProvider = (typeof AI_PROVIDERS)[number];

/** How an `oauth2` credential gets its tokens. */
export const OAUTH_GRANTS = ['authorization_code', 'client_credentials'] as const;
export type OauthGrant = (typeof OAUTH_GRANTS)[number];

export const JWT_ALGORITHMS = ['HS256', 'HS384', 'HS512', 'RS256', 'PS256', 'ES256', 'EdDSA'] as const;
export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

/** A decrypted credential. Never put into an output, a message or a log. */
export type Credential =
  | { readonly type: 'bearer'; readonly token: string }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | { readonly type: 'header'; readonly name: string; readonly value: string }
  /** A key in the query of the URL. */
  | { readonly type: 'query'; readonly name: string; readonly value: string }
  /** Digest access authentication (RFC 7616). */
  | { readonly type: 'digest'; readonly username: string; readonly password: string }
  | {
      readonly type: 'oauth2';
      readonly grant: OauthGrant;
      /** A preset, or `custom`. */
      readonly service: string;
      /** Null if no one has to approve. */
      readonly authorization_url: string | null;
      readonly token_url: string;
      readonly client_id: string;
      /** Null for a public client. */
      readonly client_secret: string | null;
      /** How the client authenticates at the token URL. */
      readonly client_authentication: 'body' | 'basic';
      /** As the provider expects it: separated by spaces or commas. */
      readonly scope: string | null;
      /** Further parameters, as a query string. */
      readonly authorization_parameters: string | null;
      readonly token_parameters: string | null;
      /** The header that carries the token by itself; null: `Authorization: Bearer`. */
      readonly token_header: string | null;
    }
  /** Authenticates with a signed JWT (RFC 7523). */
  | {
      readonly type: 'google_service_account';
      readonly client_email: string;
      /** PEM. */
      readonly private_key: string;
      readonly scope: string;
      /** The user to impersonate, if the domain allows it. */
      readonly subject: string | null;
      readonly token_url: string;
    }
  /** AWS Signature Version 4. */
  | {
      readonly type: 'aws';
      readonly access_key_id: string;
      readonly secret_access_key: string;
      readonly session_token: string | null;
      /** Null: taken from the host name. */
      readonly region: string | null;
      readonly service: string | null;
    }
  /** A JWT signed for each request. */
  | {
      readonly type: 'jwt';
      readonly algorithm: JwtAlgorithm;
      /** The shared secret, or the private key as PEM. */
      readonly key: string;
      readonly key_id: string | null;
      readonly issuer: string | null;
      readonly subject: string | null;
      readonly audience: string | null;
      readonly lifetime_s: number;
      /** Further claims, as the text of a JSON object. */
      readonly claims: string | null;
    }
  /** A TLS client certificate. */
  | {
      readonly type: 'client_certificate';
      /** PEM, with any intermediate certificates. */
      readonly certificate: string;
      /** PEM. */
      readonly private_key: string;
      readonly passphrase: string | null;
      /** PEM of the private authority behind the server's certificate. */
      readonly authority: string | null;
    }
  /** A key that signs or verifies. */
  | { readonly type: 'secret'; readonly value: string }
  | {
      readonly type: 'smtp';
      readonly host: string;
      readonly port: number;
      /** `tls` from the first byte, `starttls` required, or `none`. */
      readonly security: 'tls' | 'starttls' | 'none';
      readonly username: string | null;
      readonly password: string | null;
    }
  | {
      readonly type: 'imap';
      readonly host: string;
      readonly port: number;
      /** `tls` from the first byte, `starttls` required, or `none`. */
      readonly security: 'tls' | 'starttls' | 'none';
      readonly username: string;
      readonly password: string;
    }
  | {
      readonly type: 'sql';
      readonly dialect: DatabaseKind;
      readonly host: string;
      readonly port: number;
      readonly database: string;
      readonly username: string;
      readonly password: string;
      /** `verify`: the certificate is checked; `require`: encrypted only. */
      readonly tls: 'off' | 'require' | 'verify';
    }
  | {
      readonly type: 'redis';
      readonly host: string;
      readonly port: number;
      readonly database: number;
      /** Null: the default user. */
      readonly username: string | null;
      readonly password: string | null;
      /** `verify`: the certificate is checked; `require`: encrypted only. */
      readonly tls: 'off' | 'require' | 'verify';
    }
  | {
      readonly type: 'mqtt';
      readonly host: string;
      readonly port: number;
      readonly username: string | null;
      readonly password: string | null;
      readonly tls: 'off' | 'require' | 'verify';
    }
  | {
      readonly type: 'kafka';
      /** Bootstrap brokers: `host:port`, separated by commas. */
      readonly brokers: string;
      readonly mechanism: 'none' | 'plain' | 'scram_sha_256' | 'scram_sha_512' | 'oauth_bearer';
      /** With `oauth_bearer` the id of the client. */
      readonly username: string | null;
      /** With `oauth_bearer` the secret of the client. */
      readonly password: string | null;
      /** For `oauth_bearer`: where tokens are fetched with client credentials. */
      readonly token_url: string | null;
      readonly scope: string | null;
      /** For `oauth_bearer`: SASL extensions, as `name=value, name=value`. */
      readonly extensions: string | null;
      /** Client certificate, PEM; with its key. */
      readonly certificate: string | null;
      readonly private_key: string | null;
      readonly passphrase: string | null;
      /** Trusted authority, PEM; null: the public ones. */
      readonly authority: string | null;
      readonly tls: 'off' | 'require' | 'verify';
    }
  | {
      readonly type: 'ai';
      readonly provider: AiProvider;
      /** Null: the provider's default. */
      readonly base_url: string | null;
      /** Null: the server requires none, as is common for local ones. */
      readonly api_key: string | null;
    }
  | {
      readonly type: 'chat';
      readonly service: ChatServiceName;
      /** URL of an incoming webhook; its path is the secret. */
      readonly webhook_url: string | null;
      /** Token of a bot or of an API. */
      readonly token: string | null;
      /** URL of a self-hosted service (Mattermost); null: the service's default. */
      readonly base_url: string | null;
    };
export type CredentialOf<Type extends CredentialType> = Extract<Credential, { type: Type }>;

export type HttpCredential = CredentialOf<(typeof HTTP_CREDENTIAL_TYPES)[number]>;

/** A request that a credential authenticates. */
export interface AuthenticatedRequest {
  /** What would be sent, with the credential's part as `[hidden]`. Nothing is fetched for it. */
  readonly shown: Pick<HttpRequest, 'url'> & { readonly headers: { readonly [name: string]: string } };
  /**
   * Sends it with the credential, after fetching a token if needed, and once more if the server demands it.
   * @throws ServiceError credential_disconnected, credential_token_refused, credential_token_unavailable
   * @throws HttpClientError
   */
  send(signal: AbortSignal): Promise<HttpResponse>;
}

/** The current token of an `oauth2` credential. */
export interface AccessToken {
  readonly text: string;
  /** Identifies it among the credential's tokens. */
  readonly generation: number;
}

export interface CredentialService {
  /**
   * Decrypts a credential of the execution's organisation. From then on its secrets are masked in the node's output.
   * @param use.url where it will be sent; refused when its host isn't among the credential's hosts. Absent for types that contain their own
   * host and for `secret`.
   * @throws ServiceError credential_not_found, credential_wrong_type, credential_host_not_allowed
   */
  open<Type extends CredentialType>(
    id: number,
    use: { readonly types: readonly Type[]; readonly url?: string },
  ): Promise<CredentialOf<Type>>;
  /**
   * Authenticates a request with a credential of {@link HTTP_CREDENTIAL_TYPES}. From then on its secrets are masked in the node's output.
   * @throws ServiceError as {@link open}; invalid_config when the request already has what the credential would add
   */
  authenticate(id: number, request: HttpRequest): Promise<AuthenticatedRequest>;
  /**
   * A token of an `oauth2` credential, for protocols other than HTTP. From then on it is masked in the node's output.
   * @param use.url names the host that it will be sent to, which the credential must be bound to
   * @param use.refused the one that a server didn't accept
   * @returns null if the refused one can't be replaced
   * @throws ServiceError as {@link open}; credential_not_connected, credential_disconnected, credential_token_refused, credential_token_unavailable
   */
  token(
    id: number,
    use: { readonly url: string; readonly refused?: AccessToken },
    signal: AbortSignal,
  ): Promise<AccessToken | null>;
}
