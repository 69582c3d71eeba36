import { JWT_ALGORITHMS, OAUTH_GRANTS } from '@millrace/engine';
import { Type } from 'typebox';
import { CUSTOM_SERVICE, OAUTH_PRESETS } from './oauth/presets.ts';
import {
  choice,
  fields,
  labelled,
  optionalSecret,
  optionalText,
  secret,
  shownFor,
  text,
} from './schema-parts.ts';

const APPROVED = { grant: ['authorization_code'] };
const MAX_PEM = 65_536;

/** A secret of several lines. */
function pem(title: string, description: string) {
  return Type.Unsafe<string>({ ...secret(title, description), maxLength: MAX_PEM, 'x-multiline': true });
}

/** The fields of the types of credentials that authenticate HTTP requests. */
export const httpCredentialSchemas = {
  bearer: fields('Bearer token', 'Sent as Authorization: Bearer.', {
    token: secret('Token', 'Without the word Bearer.'),
  }),
  basic: fields('User name and password', 'Sent as HTTP basic authentication.', {
    // Some services accept their key as the user name.
    username: secret('User name', 'May not hold a colon.', 0),
    password: secret('Password', 'May be empty.', 0),
  }),
  header: fields('Header', 'A header of your own, such as X-Api-Key.', {
    name: text('Header name', 'For example X-Api-Key.'),
    value: secret('Header value', 'What the header carries.'),
  }),
  query: fields('Query parameter', 'A key in the URL, such as ?api_key=...', {
    name: text('Parameter name', 'For example api_key.'),
    value: secret('Value', 'What the parameter carries.'),
  }),
  digest: fields('Digest', 'User name and password, sent as HTTP digest authentication.', {
    username: secret('User name', 'As the server knows it.', 0),
    password: secret('Password', 'May be empty.', 0),
  }),
  oauth2: fields('OAuth 2.0', 'Tokens that are fetched and renewed by themselves.', {
    service: labelled(
      choice(
        'Service',
        'Fills in addresses and scopes.',
        [CUSTOM_SERVICE, ...OAUTH_PRESETS.map(({ id }) => id)],
        CUSTOM_SERVICE,
      ),
      Object.fromEntries([
        [CUSTOM_SERVICE, 'Another service'],
        ...OAUTH_PRESETS.map(({ id, title }) => [id, title]),
      ]),
    ),
    grant: labelled(
      choice(
        'Grant',
        'authorization_code: a person approves once. client_credentials: the app acts for itself.',
        OAUTH_GRANTS,
        'authorization_code',
      ),
      { authorization_code: 'Authorization code', client_credentials: 'Client credentials' },
    ),
    client_id: text('Client ID', 'Of the app registered with the service.', 2048),
    client_secret: optionalSecret('Client secret', 'Empty for a public client.'),
    scope: optionalText('Scope', 'What it may do, in the words and with the separator of the service.', 4096),
    authorization_url: shownFor(optionalText('Authorization URL', 'Where a person approves.'), APPROVED),
    token_url: text('Token URL', 'Where tokens are fetched.', 2048),
    client_authentication: labelled(
      choice(
        'Client authentication',
        'body: ID and secret among the parameters. basic: as HTTP basic authentication.',
        ['body', 'basic'],
        'body',
      ),
      { body: 'In the body', basic: 'HTTP basic' },
    ),
    authorization_parameters: shownFor(
      optionalText('Authorization parameters', 'Further ones, such as access_type=offline&prompt=consent.'),
      APPROVED,
    ),
    token_parameters: optionalText(
      'Token parameters',
      'Further ones, such as audience=https://api.example.com.',
    ),
    token_header: optionalText(
      'Token header',
      'Of requests, such as X-Shopify-Access-Token. Empty: Authorization: Bearer.',
      100,
    ),
  }),
  google_service_account: fields('Google service account', 'Signs in with the key of a service account.', {
    client_email: text('E-mail address', 'Of the service account: client_email in its key file.'),
    private_key: pem('Private key', 'private_key in its key file.'),
    scope: text(
      'Scope',
      'Separated by spaces, such as https://www.googleapis.com/auth/drive.readonly.',
      4096,
    ),
    subject: optionalText('Acts for', 'E-mail address of a person, if the domain allows it.', 255),
    token_url: Type.Unsafe<string>({
      ...text('Token URL', 'token_uri in its key file.', 2048),
      default: 'https://oauth2.googleapis.com/token',
    }),
  }),
  aws: fields('AWS', 'Signs each request with AWS Signature Version 4.', {
    access_key_id: text('Access key ID', 'Such as AKIA...'),
    secret_access_key: secret('Secret access key', 'As AWS shows it once.'),
    session_token: optionalSecret('Session token', 'Of temporary keys.'),
    region: optionalText('Region', 'Such as eu-central-1. Empty: as in the host.', 64),
    service: optionalText('Service', 'Such as s3 or execute-api. Empty: as in the host.', 64),
  }),
  jwt: fields('JWT', 'A token signed for each request, sent as Authorization: Bearer.', {
    algorithm: choice(
      'Algorithm',
      'HS: a shared secret. The others: a private key.',
      JWT_ALGORITHMS,
      'RS256',
    ),
    key: pem('Key', 'The shared secret, or the private key as PEM.'),
    key_id: optionalText('Key ID', 'In its header: kid.', 255),
    issuer: optionalText('Issuer', 'The claim iss.', 1024),
    subject: optionalText('Subject', 'The claim sub.', 1024),
    audience: optionalText('Audience', 'The claim aud.', 1024),
    lifetime_s: Type.Integer({
      title: 'Lifetime',
      description: 'Seconds until it expires.',
      minimum: 10,
      maximum: 86_400,
      default: 300,
    }),
    claims: optionalText('Further claims', 'A JSON object.', 8192),
  }),
  client_certificate: fields(
    'Client certificate',
    'Shown to the server when the connection is opened (mTLS).',
    {
      certificate: Type.Unsafe<string>({
        ...text('Certificate', 'PEM, with the certificates between it and its authority.', MAX_PEM),
        'x-multiline': true,
      }),
      private_key: pem('Private key', 'PEM.'),
      passphrase: optionalSecret('Passphrase', 'Of the private key, if it has one.'),
      authority: Type.Unsafe<string | null>({
        ...optionalText(
          "The server's authority",
          'PEM of its certificate, if it is not a public one.',
          MAX_PEM,
        ),
        'x-multiline': true,
      }),
    },
  ),
};
