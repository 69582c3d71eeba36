import { describe, expect, test } from 'vitest';
import { conform } from './token-endpoint.ts';

describe('a response of a token endpoint', () => {
  test.each([
    // Slack: the bot's token, with a type of its own.
    [
      200,
      { ok: true, access_token: 'xoxb', token_type: 'bot', authed_user: { id: 'U1', access_token: 'xoxp' } },
      200,
      { ok: true, access_token: 'xoxb', token_type: 'bearer' },
    ],
    // Slack: only the person's token.
    [
      200,
      { ok: true, authed_user: { id: 'U1', access_token: 'xoxp', token_type: 'user' } },
      200,
      { ok: true, id: 'U1', access_token: 'xoxp', token_type: 'bearer' },
    ],
    // Slack and GitHub: errors with status 200.
    [200, { ok: false, error: 'invalid_refresh_token' }, 400, { ok: false, error: 'invalid_grant' }],
    [200, { error: 'bad_verification_code' }, 400, { error: 'bad_verification_code' }],
    [200, { error: 'bad_refresh_token' }, 400, { error: 'invalid_grant' }],
    // HubSpot: the code in another member.
    [400, { status: 'BAD_REFRESH_TOKEN' }, 400, { status: 'BAD_REFRESH_TOKEN', error: 'invalid_grant' }],
    // No type, a number as text, and an ID token that nobody checks.
    [
      200,
      { access_token: 'a', expires_in: '3600', id_token: 'x' },
      200,
      { access_token: 'a', expires_in: 3600, token_type: 'bearer' },
    ],
    [200, {}, 200, {}],
    [503, { error: 'server_error' }, 503, { error: 'server_error' }],
  ])('%i %j is read as %i %j', (status, given, expected, fields) => {
    expect(conform(status, given)).toEqual({ status: expected, fields });
  });
});
