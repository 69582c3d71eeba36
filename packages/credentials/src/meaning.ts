import { normalisePem } from '@millrace/egress/pem';
import { type CredentialType, isJsonObject, type JsonObject, tryParseJson } from '@millrace/engine';
import type { FieldError } from '@millrace/errors/errors';
import { type Message, message } from '@millrace/messages';
import { readPrivateKey } from './http/pem.ts';

// Visible ASCII, space, tab and Latin-1, as RFC 9110 defines it; no line breaks, which would start another header.
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Set by the service itself, or passed to other origins on redirects, where no secret may go. */
const UNFIT_HEADERS =
  /^(host|content-(length|type|encoding|language|location)|transfer-encoding|connection|keep-alive|proxy-connection|upgrade|expect|te|trailer|accept|accept-language|accept-encoding|user-agent|idempotency-key)$/i;

/** Fields of a credential, and where what is wrong with them is noted. */
interface Checked {
  readonly fields: JsonObject;
  /** Empty for what isn't a text. */
  readonly text: (field: string) => string;
  readonly given: (field: string) => boolean;
  readonly check: (isRight: boolean, field: string, fault: Message) => void;
}

/** Checks what a schema can't say, with pointers below `/fields`. */
export function checkMeaning(type: CredentialType, fields: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  CHECKS[type]?.({
    fields,
    text: (field) => {
      const value = fields[field];
      return typeof value === 'string' ? value : '';
    },
    given: (field) => fields[field] !== null,
    check: (isRight, field, fault) => {
      if (!isRight) errors.push({ pointer: `/fields/${field}`, code: 'invalid_value', message: fault });
    },
  });
  return errors;
}

/** By the type; null if its schema says everything. */
const CHECKS: { readonly [Type in CredentialType]: ((checked: Checked) => void) | null } = {
  ai: checkAi,
  aws: null,
  basic: ({ text, check }) =>
    check(!text('username').includes(':'), 'username', message('service.credential_username_colon')),
  bearer: ({ text, check }) =>
    check(/^[\x21-\x7e]+$/.test(text('token')), 'token', message('service.credential_token_characters')),
  chat: checkChat,
  client_certificate: checkCertificates,
  digest: null,
  google_service_account: ({ text, check }) => {
    check(isWebAddress(text('token_url'), true), 'token_url', message('service.url_with_fragment'));
    check(isPrivateKey(text('private_key')), 'private_key', message('service.credential_private_key'));
  },
  header: checkHeader,
  imap: null,
  jwt: checkJwt,
  kafka: checkKafka,
  mqtt: checkLogin,
  oauth2: checkOauth,
  query: ({ text, check }) =>
    check(/^[\x21-\x7e]+$/.test(text('name')), 'name', message('service.credential_parameter_name')),
  redis: null,
  secret: null,
  smtp: checkLogin,
  sql: null,
};

function checkHeaderName({ text, check }: Pick<Checked, 'text' | 'check'>, field: string): void {
  check(HEADER_NAME.test(text(field)), field, message('service.credential_header_malformed'));
  check(!UNFIT_HEADERS.test(text(field)), field, message('service.credential_header_reserved'));
}

function checkHeader({ text, check }: Checked): void {
  checkHeaderName({ text, check }, 'name');
  check(HEADER_VALUE.test(text('value')), 'value', message('service.credential_header_value'));
}

/** A user name and a password, or neither. */
function checkLogin({ given, check }: Checked): void {
  const missing = given('username') ? 'password' : 'username';
  check(given('username') === given('password'), missing, message('service.credential_login_incomplete'));
}

function checkKafka({ fields, text, given, check }: Checked): void {
  if (fields.mechanism === 'oauth_bearer') {
    check(isWebAddress(text('token_url'), true), 'token_url', message('service.url_with_fragment'));
    const isFine = !given('extensions') || EXTENSIONS.test(text('extensions'));
    check(isFine, 'extensions', message('service.credential_extensions'));
  }
  check(
    given('certificate') === given('private_key'),
    given('certificate') ? 'private_key' : 'certificate',
    message('service.credential_certificate_incomplete'),
  );
  for (const name of ['certificate', 'private_key', 'authority']) {
    check(!given(name) || isPem(text(name)), name, message('service.credential_pem'));
  }
  const signsIn = fields.mechanism !== 'none';
  const fault = message(signsIn ? 'service.credential_kafka_login' : 'service.credential_kafka_no_login');
  for (const name of ['username', 'password']) check(given(name) === signsIn, name, fault);
}

function checkAi({ fields, text, given, check }: Checked): void {
  const isAddress = !given('base_url') || isWebAddress(text('base_url'), true);
  check(isAddress, 'base_url', message('service.url_with_fragment'));
  const needsNoKey = fields.provider === 'openai_compatible' && given('base_url');
  check(given('api_key') || needsNoKey, 'api_key', message('service.credential_ai_key'));
}

function checkChat({ text, given, check }: Checked): void {
  check(given('webhook_url') || given('token'), 'webhook_url', message('service.credential_chat_access'));
  const isHttp =
    !given('webhook_url') || URL.parse(text('webhook_url'))?.protocol.startsWith('http') === true;
  check(isHttp, 'webhook_url', message('service.url_malformed'));
  const isAddress = !given('base_url') || isWebAddress(text('base_url'));
  check(isAddress, 'base_url', message('service.url_with_query'));
}

function checkJwt({ text, given, check }: Checked): void {
  const isKey = text('algorithm').startsWith('HS') || isPrivateKey(text('key'));
  check(isKey, 'key', message('service.credential_private_key'));
  const isObject = !given('claims') || isJsonObject(tryParseJson(text('claims')));
  check(isObject, 'claims', message('service.credential_claims'));
}

function checkCertificates({ text, given, check }: Checked): void {
  check(isPem(text('certificate')), 'certificate', message('service.credential_pem'));
  check(isPem(text('private_key')), 'private_key', message('service.credential_pem'));
  check(!given('authority') || isPem(text('authority')), 'authority', message('service.credential_pem'));
}

/** Set by the protocol; a parameter of the same name would replace it. */
const OWN_PARAMETERS = [
  'response_type',
  'client_id',
  'client_secret',
  'redirect_uri',
  'scope',
  'state',
  'code',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'grant_type',
  'refresh_token',
];

function checkOauth({ fields, text, given, check }: Checked): void {
  if (given('token_header')) checkHeaderName({ text, check }, 'token_header');
  const textOf = (field: string) => (typeof fields[field] === 'string' ? fields[field] : null);
  const authorization = textOf('authorization_url');
  if (fields.grant === 'authorization_code') {
    check(authorization !== null, 'authorization_url', message('service.credential_authorization_url'));
  } else {
    check(textOf('client_secret') !== null, 'client_secret', message('service.credential_client_secret'));
  }
  if (authorization !== null) {
    check(isWebAddress(authorization, true), 'authorization_url', message('service.url_with_fragment'));
  }
  check(isWebAddress(textOf('token_url') ?? '', true), 'token_url', message('service.url_with_fragment'));
  for (const field of ['authorization_parameters', 'token_parameters']) {
    const names = [...new URLSearchParams(textOf(field) ?? '').keys()];
    const own = names.find((name) => OWN_PARAMETERS.includes(name.toLowerCase()));
    if (own !== undefined) check(false, field, message('service.credential_own_parameter', { name: own }));
  }
}

function isPrivateKey(text: string): boolean {
  try {
    readPrivateKey(text);
    return true;
  } catch {
    return false;
  }
}

/** `name=value` pairs of SASL/OAUTHBEARER (RFC 7628), separated by commas. */
const EXTENSIONS = /^\s*[A-Za-z]+\s*=[ !#-+./-~-]*(?:,\s*[A-Za-z]+\s*=[ !#-+./-~-]*){0,9}$/;

function isPem(text: string): boolean {
  return /^-----BEGIN [A-Z0-9 ]+-----$/m.test(normalisePem(text));
}

/** @param mayAsk whether it may have a query */
function isWebAddress(text: string, mayAsk = false): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, mayAsk ? '' : url.search, url.hash].every((part) => part === '')
  );
}
