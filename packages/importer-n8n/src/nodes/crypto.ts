import { isJsonObject, type JsonValue } from '@millrace/engine';
import { insideOf, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from '../compiler.ts';
import { forItem, type Handlers } from '../handler.ts';
import { jsonParam } from '../json-text.ts';
import { type Step, Unmappable } from '../step.ts';

/** Nodes that hash, sign and draw. */
export const CRYPTO: Handlers = {
  crypto: forItem(crypto),
  jwt: forItem(token),
  totp: forItem(oneTimeCode),
};

const HASHES = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'];

function crypto(step: Step): readonly Out[] {
  const action = step.text('action', 'hash');
  const name = step.text('dataPropertyName', 'data') || 'data';
  const config =
    action === 'generate'
      ? randomConfig(step)
      : action === 'hash' || action === 'hmac'
        ? digestConfig(step, action)
        : null;
  if (config === null) throw new Unmappable(message('import.unknown_operation', { operation: action }));
  const id = step.add('core.crypto', config);
  return [step.one(`nodes.${id}.output`, { [name]: ['value'] })];
}

function randomConfig(step: Step): { [name: string]: JsonValue } | null {
  const encoding = step.text('encodingType', 'uuid');
  if (encoding === 'uuid') return { operation: 'random', random: 'uuid' };
  const length = Number(step.raw('stringLength') ?? 32);
  if (!Number.isInteger(length) || length < 1 || length > 1024) return null;
  if (encoding === 'ascii') return { operation: 'random', random: 'password', length };
  // There, the length is that of the text.
  const bytes = Math.ceil(encoding === 'hex' ? length / 2 : (length * 3) / 4);
  return encoding === 'hex' || encoding === 'base64'
    ? { operation: 'random', random: 'bytes', length: bytes, encoding }
    : null;
}

function digestConfig(step: Step, action: 'hash' | 'hmac'): { [name: string]: JsonValue } | null {
  const algorithm = step.text('type', 'MD5').toLowerCase();
  if (!HASHES.includes(algorithm) || step.raw('binaryData') === true) return null;
  if (action === 'hmac') step.approximate(message('import.choose_credential'));
  const encoding = step.text('encoding', 'hex') === 'base64' ? 'base64' : 'hex';
  return { operation: action, data: textOf(step.param('value', '')), algorithm, encoding };
}

/** A template alone would keep the type of what it finds. */
function textOf(value: JsonValue): JsonValue {
  const inside = typeof value === 'string' ? insideOf(value) : null;
  return inside === null ? value : template(`${inside} | string`);
}

const ALGORITHMS = ['HS256', 'HS384', 'HS512', 'RS256', 'PS256', 'ES256'];

function token(step: Step): readonly Out[] {
  const operation = step.text('operation', 'sign');
  const algorithm = step.text('options.algorithm', 'HS256');
  if (!ALGORITHMS.includes(algorithm) || (operation !== 'sign' && operation !== 'verify'))
    throw new Unmappable(message('import.unknown_operation', { operation: `${operation} ${algorithm}` }));
  step.approximate(message('import.choose_credential'));
  if (operation === 'verify') {
    step.approximate(message('import.check_valid'));
    const id = step.add('core.crypto', {
      operation: 'jwt_verify',
      token: textOf(step.param('token', '')),
      jwt_algorithm: algorithm,
    });
    return [step.one(`nodes.${id}.output`, { payload: ['claims'] })];
  }
  const keyId = step.param('options.kid', '');
  const id = step.add('core.crypto', {
    operation: 'jwt_sign',
    jwt_algorithm: algorithm,
    ...(keyId === '' ? {} : { key_id: keyId }),
    ...claimsOf(step),
  });
  return [step.one(`nodes.${id}.output`, { token: ['value'] })];
}

/** Claims by their names in n8n. */
const CLAIMS: { readonly [name: string]: string } = {
  audience: 'aud',
  issuer: 'iss',
  jwtid: 'jti',
  subject: 'sub',
  notBefore: 'nbf',
};

function claimsOf(step: Step): { [name: string]: JsonValue } {
  if (step.raw('useJson') === true) {
    const claims = jsonParam(step, step.raw('claimsJson'));
    if (claims === undefined) throw new Unmappable(message('import.not_json', { parameter: 'claimsJson' }));
    return { claims, expires_in_s: 0 };
  }
  const given = step.param('claims', {});
  const claims = isJsonObject(given) ? given : {};
  const lifetime = Number(claims.expiresIn ?? 0);
  return {
    claims: Object.fromEntries(
      Object.entries(claims).flatMap(([name, value]): [string, JsonValue][] =>
        Object.hasOwn(CLAIMS, name) ? [[CLAIMS[name] ?? name, value ?? null]] : [],
      ),
    ),
    expires_in_s: Number.isInteger(lifetime) && lifetime > 0 ? lifetime : 0,
  };
}

function oneTimeCode(step: Step): readonly Out[] {
  const operation = step.text('operation', 'generateSecret');
  const algorithm = step.text('options.algorithm', 'SHA1');
  if (operation !== 'generateSecret' || algorithm !== 'SHA1')
    throw new Unmappable(message('import.unknown_operation', { operation: `${operation} ${algorithm}` }));
  step.approximate(message('import.choose_credential'));
  const digits = Number(step.raw('options.digits') ?? 6);
  const period = Number(step.raw('options.period') ?? 30);
  const id = step.add('core.crypto', {
    operation: 'totp',
    digits: [6, 7, 8].includes(digits) ? digits : 6,
    period_s: Number.isInteger(period) && period > 0 && period <= 3600 ? period : 30,
  });
  return [step.one(`nodes.${id}.output`, { token: ['value'] })];
}
