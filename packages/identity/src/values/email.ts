import { message } from '@millrace/messages';
import { AccountError, toAdminError } from './account-error.ts';

// Nothing that cannot be seen, or that turns round what stands beside it: two addresses that look the same would be two.
const FORM = /^[^\s@\p{Cc}\p{Cf}\p{Co}\p{Cs}]+@[^\s@\p{Cc}\p{Cf}\p{Co}\p{Cs}]+$/u;
/** The only two letters beyond ASCII that have one of ASCII in lower case: an address with them is somebody else's. */
const BECOMES_ASCII = /[\u0130\u212A]/;
const MOST_CHARACTERS = 254;

/** An address as it is stored: case does not matter in it. */
export function normaliseEmail(text: string): string {
  return text.trim().toLowerCase();
}

/** Whether it is an address that somebody can be known by. */
export function isEmail(text: string): boolean {
  const email = normaliseEmail(text);
  return email.length <= MOST_CHARACTERS && FORM.test(email) && !BECOMES_ASCII.test(text);
}

/** @throws AccountError `invalid_value` */
export function checkEmail(text: string): string {
  if (isEmail(text)) return normaliseEmail(text);
  throw new AccountError('invalid_value', message('identity.email_malformed', { email: text }));
}

/** Like {@link checkEmail}, for the body of a request. @throws ApiError 422 on `email` */
export function readEmail(text: string): string {
  try {
    return checkEmail(text);
  } catch (error) {
    throw toAdminError(error, '/email');
  }
}
