import type { HttpResponse } from '@millrace/engine';
import { modelsRequest, modelsUrl, refusesKey } from '../model-list.ts';
import { compare, isGood } from './http.ts';
import { type Attempt, failed, inconclusive, shownUrl, type TestResult, works } from './result.ts';

/** Requests the list of models, which costs nothing. Some servers show it to everyone, so it is requested without the key, too. */
export async function testAi(attempt: Attempt<'ai'>): Promise<TestResult> {
  const { credential, signal } = attempt;
  const where = shownUrl(modelsUrl(credential));
  const ask = (withKey: string | null): Promise<HttpResponse> =>
    attempt.egress.http(attempt.organisationId).send(modelsRequest(credential, withKey), signal);
  const { api_key: key } = credential;
  const response = await ask(key);
  const { status } = response;
  const text = new TextDecoder().decode(response.body);
  if (refusesKey(status, text)) return failed('refused', where, null, status);
  if (status === 403) return failed('forbidden', where, null, status);
  if (status === 404 || status === 405) return inconclusive('no_model_list', where, status);
  if (!isGood(status)) return inconclusive('other_status', where, status);
  if (!isModelList(text)) return failed('ai_invalid_response', where, null, status);
  if (key === null) return works('accepted', where, status);
  return compare(where, status, async () => (await ask(null)).status);
}

/** `data` from OpenAI and Anthropic, `models` from Google. */
function isModelList(text: string): boolean {
  try {
    const body = JSON.parse(text) as { data?: unknown; models?: unknown } | null;
    return Array.isArray(body?.data) || Array.isArray(body?.models);
  } catch {
    return false;
  }
}
