import type { Credential } from '@millrace/admin-api';
import credentialTexts from '@millrace/ui/i18n/en/credentials.json';

/** The types that there are words for. */
export type KnownType = keyof typeof credentialTexts.types;

export function isKnownType(type: string): type is KnownType {
  return Object.hasOwn(credentialTexts.types, type);
}

/** Key of the words for a field, without `.title` or `.hint`; null when there are none: the service's own are shown. */
export function fieldText(type: string, field: string): `credentials.fields.smtp.host` | null {
  if (!isKnownType(type) || !Object.hasOwn(credentialTexts.fields[type], field)) return null;
  // All of these have the same two members, so the type of one stands for all.
  return `credentials.fields.${type}.${field}` as 'credentials.fields.smtp.host';
}

type TestCode = keyof typeof credentialTexts.test.code;
type TestHint = keyof typeof credentialTexts.test.hint;

/** Key of the words for what came of a test; null: those of the service say it. */
export function testText(code: string): `credentials.test.code.${TestCode}` | null {
  const isKnown = Object.hasOwn(credentialTexts.test.code, code);
  return isKnown ? `credentials.test.code.${code as TestCode}` : null;
}

/** Key of the words for what to do about a failed test; null: what came of it says that already. */
export function testHint(code: string): `credentials.test.hint.${TestHint}` | null {
  if (Object.hasOwn(credentialTexts.test.hint, code)) return `credentials.test.hint.${code as TestHint}`;
  return testText(code) === null ? 'credentials.test.hint.other' : null;
}

/** Types that a page to try them on has to be named for. */
export function wantsPage({ hosts }: Credential): boolean {
  return hosts.length > 0;
}

/** Where a credential is sent: the hosts it is bound to, else the one among its settings; null: nowhere, or not said. */
export function targetOf({ hosts, settings }: Credential): string | null {
  if (hosts.length > 0) return hosts.join(', ');
  const { host, base_url: baseUrl, service, provider } = settings;
  const found = [host, baseUrl, service, provider].find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found : null;
}
