import { message } from '@millrace/messages';
import { AccountError } from './account-error.ts';

// No invisible characters or ones that reverse their surroundings: two different addresses would look the same.
const FORM = /^[^\s@\p{Cc}\p{Cf}\p{Co}\p{Cs}]+@[^\s@\p{Cc}\p{Cf}\p{Co}\p{Cs}]+$/u;
/** The only two letters beyond ASCII whose lower case is ASCII: an address with them is someone else's. */
const BECOMES_ASCII = /[\u0130\u212A]/;
const MAX_CHARACTERS = 254;

/** An address as stored: case doesn't matter. */
export function normaliseEmail(text: string): string {
  return text.trim().toLowerCase();
}

/** Whether it is an address that can identify someone. */
export function isEmail(text: string): boolean {
  const email = normaliseEmail(text);
  return email.length <= MAX_CHARACTERS && FORM.test(email) && !BECOMES_ASCII.test(text);
}

/** @throws AccountError `invalid_value` */
export function checkEmail(text: string): string {
  if (isEmail(text)) return normaliseEmail(text);
  throw new AccountError('invalid_value', message('identity.email_malformed', { email: text }), '/email');
}
