import type { Credential } from '@millrace/admin-api';
import { isKnownType } from '@millrace/ui/i18n/credential-types.ts';
import credentialTexts from '@millrace/ui/i18n/en/credentials.json';

/** Text key of a field, without `.title` or `.hint`; null if there is none and the service's own text is used. */
export function fieldText(type: string, field: string): `credentials.fields.smtp.host` | null {
  if (!isKnownType(type) || !Object.hasOwn(credentialTexts.fields[type], field)) return null;
  // All of these have the same two members, so the type of one stands for all.
  return `credentials.fields.${type}.${field}` as 'credentials.fields.smtp.host';
}

type Choice = keyof typeof credentialTexts.choices;

/** Text key of a value to choose; null if it is a name that is the same in every language. */
export function choiceText(value: string): `credentials.choices.${Choice}` | null {
  return Object.hasOwn(credentialTexts.choices, value) ? `credentials.choices.${value as Choice}` : null;
}

type TestCode = keyof typeof credentialTexts.test.code;
type TestHint = keyof typeof credentialTexts.test.hint;

/** Text key of a test result; null to use the service's message. */
export function testText(code: string): `credentials.test.code.${TestCode}` | null {
  const isKnown = Object.hasOwn(credentialTexts.test.code, code);
  return isKnown ? `credentials.test.code.${code as TestCode}` : null;
}

/** Text key of the advice for a failed test; null if the result already says enough. */
export function testHint(code: string): `credentials.test.hint.${TestHint}` | null {
  if (Object.hasOwn(credentialTexts.test.hint, code)) return `credentials.test.hint.${code as TestHint}`;
  return testText(code) === null ? 'credentials.test.hint.other' : null;
}

/** Whether testing requires the URL of a page to fetch. */
export function wantsPage({ hosts }: Credential): boolean {
  return hosts.length > 0;
}

/** Where a credential is sent: the hosts it is bound to, else the host setting; null if none or unknown. */
export function targetOf({ hosts, settings }: Credential): string | null {
  if (hosts.length > 0) return hosts.join(', ');
  const { host, base_url: baseUrl, service, provider } = settings;
  const found = [host, baseUrl, service, provider].find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found : null;
}
