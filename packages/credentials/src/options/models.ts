import { isJsonArray, isJsonObject, type JsonValue, tryParseJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import { modelsRequest, refusesKey } from '../model-list.ts';
import {
  type Listing,
  MAX_PAGES,
  type Option,
  type OptionList,
  optionList,
  unlisted,
} from './option-list.ts';

/**
 * The models that an AI provider offers for the key.
 * @throws ServiceError `refused`, `other_status`, `ai_invalid_response`
 */
export async function listModels({ credential, http, signal }: Listing<'ai'>): Promise<OptionList> {
  const { provider, api_key: key } = credential;
  const found: Option[] = [];
  let query: string | null = provider === 'openai_compatible' ? '' : FIRST_PAGE[provider];
  for (let page = 0; query !== null && page < MAX_PAGES; page += 1) {
    const request = modelsRequest(credential, key, query);
    const { status, body } = await http.send(request, signal);
    const { host } = new URL(request.url);
    const text = new TextDecoder().decode(body);
    if (refusesKey(status, text) || status === 403) {
      throw unlisted('refused', message('service.options_refused', { host, status }));
    }
    if (status < 200 || status > 299) {
      throw unlisted('other_status', message('service.options_status', { host, status }));
    }
    const answer = tryParseJson(text) ?? null;
    const models = modelsIn(answer);
    if (models === null) {
      throw unlisted('ai_invalid_response', message('service.options_not_list', { host }));
    }
    found.push(...models);
    query = nextPage(answer);
  }
  return optionList(found, query === null);
}

const FIRST_PAGE = { anthropic: '?limit=1000', google: '?pageSize=1000' };

/** `data` from OpenAI and Anthropic, `models` from Google; null if it is neither. */
function modelsIn(answer: JsonValue): readonly Option[] | null {
  if (!isJsonObject(answer)) return null;
  const { data = null, models = null } = answer;
  if (isJsonArray(data)) {
    return data.map((model) =>
      optionOf(textIn(model, 'id'), textIn(model, 'display_name') || textIn(model, 'name')),
    );
  }
  if (!isJsonArray(models)) return null;
  return models
    .filter((model) => answersPrompts(model))
    .map((model) => optionOf(textIn(model, 'name').replace(/^models\//, ''), textIn(model, 'displayName')));
}

function optionOf(id: string, name: string): Option {
  return { value: id, label: name, group: null };
}

/** Google also lists models that only embed. */
function answersPrompts(model: JsonValue): boolean {
  const methods = isJsonObject(model) ? (model.supportedGenerationMethods ?? null) : null;
  return !isJsonArray(methods) || methods.includes('generateContent');
}

/** The query of the next page; null if there is none. */
function nextPage(answer: JsonValue): string | null {
  const token = textIn(answer, 'nextPageToken');
  if (token !== '') return `${FIRST_PAGE.google}&pageToken=${encodeURIComponent(token)}`;
  const last = textIn(answer, 'last_id');
  const hasMore = isJsonObject(answer) && answer.has_more === true && last !== '';
  return hasMore ? `${FIRST_PAGE.anthropic}&after_id=${encodeURIComponent(last)}` : null;
}

function textIn(value: JsonValue, name: string): string {
  const member = isJsonObject(value) ? value[name] : undefined;
  return typeof member === 'string' ? member : '';
}
