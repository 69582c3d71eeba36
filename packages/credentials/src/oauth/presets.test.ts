import { expect, test } from 'vitest';
import { currentTokenUrl, OAUTH_PRESETS } from './presets.ts';

test('tokens are fetched at the current address, also for credentials saved with a former one', () => {
  const hubspot = OAUTH_PRESETS.find(({ id }) => id === 'hubspot')?.token_url ?? '';
  expect(currentTokenUrl('https://api.hubapi.com/oauth/v1/token')).toBe(hubspot);
  for (const { token_url: url } of OAUTH_PRESETS) expect(currentTokenUrl(url)).toBe(url);
});
