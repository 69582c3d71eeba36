import { AccountError, toAdminError } from '../organisations/account-error.ts';

/** An address as it is stored: case does not matter in it. */
export function normaliseEmail(text: string): string {
  return text.trim().toLowerCase();
}

/** @throws AccountError `invalid_value` */
export function checkEmail(text: string): string {
  const email = normaliseEmail(text);
  if (email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw new AccountError('invalid_value', `"${text}" is not an e-mail address (name@host).`);
  }
  return email;
}

/** Like {@link checkEmail}, for the body of a request. @throws ApiError 422 on `email` */
export function readEmail(text: string): string {
  try {
    return checkEmail(text);
  } catch (error) {
    throw toAdminError(error, '/email');
  }
}
