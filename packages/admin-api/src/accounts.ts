import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { Closed, Id, Nullable, RoleName, Timestamp } from './forms.ts';

/** Languages of the admin area. */
export const LanguageName = Type.Unsafe<'en' | 'ja'>({ type: 'string', enum: ['en', 'ja'] });

/** The signed-in user and their organisations. */
export const Me = Closed({
  user: Closed({
    id: Id,
    email: Type.String(),
    name: Type.String(),
    is_system_admin: Type.Boolean(),
    /** False: only single sign-on. */
    has_password: Type.Boolean(),
    has_second_factor: Type.Boolean(),
    /** The chosen language of the pages; null: the browser's preference. */
    language: Nullable(LanguageName),
    /** Whether the first steps are shown until they are done. */
    shows_first_steps: Type.Boolean(),
  }),
  /** A system administrator sees all organisations, with the role system_admin. */
  organisations: Type.Array(
    Closed({
      id: Id,
      name: Type.String(),
      role: RoleName,
      /** False: a system administrator who isn't a member there. */
      is_member: Type.Boolean(),
    }),
  ),
  session: Closed({ id: Id, created_at: Timestamp, expires_at: Timestamp }),
});
export type Me = Static<typeof Me>;

/** Format of every password that is sent; a new one has to meet further rules. */
export const Password = Type.String({ minLength: 1, maxLength: 1_000 });
export const Email = Type.String({ minLength: 1, maxLength: 254 });
export const PersonName = Type.Unsafe<string>({ type: 'string', 'x-name': [1, 255] });
/** A code of the app, with or without a space, or a recovery code. */
const SecondFactorCode = Type.String({ minLength: 1, maxLength: 50 });
const LinkToken = Type.String({ minLength: 1, maxLength: 200 });

/** One browser in which someone is signed in. */
export const SessionItem = Closed({
  id: Id,
  /** The session of this request. */
  is_current: Type.Boolean(),
  created_at: Timestamp,
  last_seen_at: Timestamp,
  expires_at: Timestamp,
  /** Where it was started. */
  source_ip: Nullable(Type.String()),
  user_agent: Type.String(),
});
export type SessionItem = Static<typeof SessionItem>;

/** Recovery codes are shown only once. */
const RecoveryCodes = Closed({ recovery_codes: Type.Array(Type.String()) });

export const ACCOUNT_ENDPOINTS = {
  'GET /state': {
    access: 'anyone',
    summary: 'What a browser needs to know before anyone signs in',
    response: Closed({
      needs_setup: Type.Boolean(),
      /** Label of the single sign-on button; null if there is none. */
      single_sign_on: Nullable(Type.String()),
      version: Type.String(),
    }),
  },
  'POST /setup': {
    access: 'anyone',
    summary: 'Create the first account, with the token of the setup link, and sign in',
    body: Closed({ token: LinkToken, email: Email, name: PersonName, password: Password }),
  },
  'POST /sign-in': {
    access: 'anyone',
    summary: 'Start a session. 401 second_factor_required: send the same again with a code',
    body: Closed({ email: Email, password: Password, code: Type.Optional(SecondFactorCode) }),
  },
  'POST /sign-out': { access: 'signed_in', summary: 'End this session' },

  'GET /me': { access: 'signed_in', summary: 'Who is signed in', response: Me },
  'PATCH /me': {
    access: 'signed_in',
    summary: 'Change my name',
    body: Closed({ name: PersonName }),
  },
  'PUT /me/language': {
    access: 'signed_in',
    summary: 'Choose the language of the pages, for all my browsers',
    body: Closed({ language: LanguageName }),
  },
  'PUT /me/first-steps': {
    access: 'signed_in',
    summary: 'Show or dismiss the first steps, in all my browsers',
    body: Closed({ shown: Type.Boolean() }),
  },
  'PUT /me/password': {
    access: 'signed_in',
    summary: 'Change my password; ends all my other sessions',
    body: Closed({ current_password: Password, new_password: Password }),
  },
  'GET /me/sessions': {
    access: 'signed_in',
    summary: 'Where I am signed in, latest first',
    response: Closed({ items: Type.Array(SessionItem) }),
  },
  'DELETE /me/sessions': { access: 'signed_in', summary: 'End all my other sessions' },
  'DELETE /me/sessions/:session': { access: 'signed_in', summary: 'End one of my sessions' },
  'POST /me/second-factor': {
    access: 'signed_in',
    summary: 'Start setting up a second factor; its first code turns it on',
    body: Closed({ password: Password }),
    response: Closed({
      /** Base32, for typing it in. */
      secret: Type.String(),
      /** Content of the QR code: `otpauth://totp/...` */
      uri: Type.String(),
    }),
  },
  'POST /me/second-factor/confirm': {
    access: 'signed_in',
    summary: 'Turn the second factor on with its first code',
    body: Closed({ code: SecondFactorCode }),
    response: RecoveryCodes,
  },
  'POST /me/second-factor/recovery-codes': {
    access: 'signed_in',
    summary: 'Create new recovery codes; the old ones stop working',
    body: Closed({ password: Password, code: SecondFactorCode }),
    response: RecoveryCodes,
  },
  'POST /me/second-factor/off': {
    access: 'signed_in',
    summary: 'Turn the second factor off',
    body: Closed({ password: Password, code: SecondFactorCode }),
  },

  'POST /invitation/look-up': {
    access: 'anyone',
    summary: 'What an invitation is for, by the token of its link',
    body: Closed({ token: LinkToken }),
    response: Closed({
      organisation: Type.String(),
      role: RoleName,
      /** The intended recipient; null: anyone with the link. */
      email: Nullable(Type.String()),
      expires_at: Timestamp,
      /** Whether that address has an account; null if the invitation isn't for an address. */
      has_account: Nullable(Type.Boolean()),
      /** Whether the link makes that account the reader's: nobody has proved yet that the address is theirs. */
      takes_over: Type.Boolean(),
    }),
  },
  'POST /invitation/accept': {
    access: 'anyone',
    summary: 'Create an account with an invitation, and sign in',
    body: Closed({ token: LinkToken, email: Email, name: PersonName, password: Password }),
  },
  'POST /invitation/join': {
    access: 'signed_in',
    summary: 'Accept an invitation with the account that is signed in',
    body: Closed({ token: LinkToken }),
    response: Closed({ organisation_id: Id }),
  },
} as const satisfies Endpoints;
