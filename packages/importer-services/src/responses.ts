import { SERVICES } from './services.ts';

/** What comes back: a list, or one object. */
export type ResponseForm = 'list' | 'object';

/** APIs each of whose responses is one object, by the beginnings of their addresses. */
const OBJECTS = new RegExp(
  `^https?://(?:${[
    'api\\.(?:openai|anthropic|mistral|perplexity|deepseek|x)\\.(?:com|ai)',
    'openrouter\\.ai/api',
    'api\\.(?:groq|stripe|twitter|x|hubapi|airtable|notion|pipedrive|sendgrid|brevo|replicate|voyageai|tavily)\\.com/(?:v?[0-9]|openai|crm|search)',
    'api\\.(?:telegram\\.org|notion\\.com|linear\\.app|monday\\.com|firecrawl\\.dev|spotify\\.com|line\\.me|tavily\\.com|cloudinary\\.com|cloudflare\\.com|dropboxapi\\.com)',
    '(?:[\\w-]+\\.)*googleapis\\.com/(?!.*:stream)',
    'graph\\.(?:facebook|instagram|microsoft)\\.com',
    '(?:hooks\\.)?slack\\.com',
    'app\\.asana\\.com/api',
    'serpapi\\.com/search',
    'google\\.serper\\.dev',
    '[^/]+/collections/[^/?]+(?:/points(?:/|$|\\?)|$)',
    '[^/]+/api/(?:generate|chat|tags)$',
    '[^/]+/v1/(?:chat/completions|embeddings|completions|models)$',
  ].join('|')})`,
);

/** Addresses at which any service has a list. */
const LISTS =
  /^https?:\/\/[^?]+\/(?:run-sync-get-dataset-items|datasets\/[^/?]+\/items)(?:\?|$)|^https:\/\/[^/?]+\.supabase\.co\/rest\/v1\/(?!rpc\/)|\/wp-json\/(?:wp\/v2|wc\/v\d)\/[a-z_]+(?:\?|$)/;

interface KnownCall {
  readonly method: string;
  readonly url: RegExp;
  readonly form: ResponseForm;
}

let knownCalls: readonly KnownCall[] | null = null;

/** The operations of services at addresses that nobody else has. */
function known(): readonly KnownCall[] {
  knownCalls ??= Object.values(SERVICES).flatMap(({ operations }) =>
    Object.values(operations).flatMap(({ method = 'GET', url, many, one }): readonly KnownCall[] => {
      if (!url.startsWith('https://') || one === '::file') return [];
      const pattern = url
        .replace(/\?.*$/, '')
        .split(/(\{[^{}]*\}|\([\w-]+\)|\[token\])/)
        .map((part, index) => (index % 2 === 1 ? '[^/?]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
      const isList = many !== undefined && (many === '' || many.startsWith(':'));
      return [{ method, url: new RegExp(`^${pattern.join('')}(?:\\?|$)`), form: isList ? 'list' : 'object' }];
    }),
  );
  return knownCalls;
}

/** An address is read only as far as this. */
const MAX_URL = 2000;

/** What the response to a call is, by what is known of the service; null if that is nothing. */
export function responseForm(method: string, given: string): ResponseForm | null {
  const url = given
    .slice(0, MAX_URL)
    .replace(/\{\{.*?\}\}/gs, 'x')
    .trim();
  if (LISTS.test(url)) return method === 'GET' || !url.includes('/wp-json/') ? 'list' : 'object';
  const found = known().filter((call) => call.method === method && call.url.test(url));
  // An id and a name of a collection look the same.
  const [first] = found;
  if (first !== undefined && found.every(({ form }) => form === first.form)) return first.form;
  return found.length === 0 && OBJECTS.test(url) ? 'object' : null;
}
