/** Services without a node of their own: what they are searched by, and where their API begins. */
export const HTTP_SERVICES: readonly {
  readonly name: string;
  readonly words: readonly string[];
  readonly url: string;
}[] = [
  { name: 'Airtable', words: ['airtable'], url: 'https://api.airtable.com/v0/' },
  { name: 'Asana', words: ['asana'], url: 'https://app.asana.com/api/1.0/' },
  { name: 'DeepL', words: ['deepl', 'translate', '翻訳'], url: 'https://api.deepl.com/v2/translate' },
  { name: 'GitHub', words: ['github'], url: 'https://api.github.com/' },
  { name: 'GitLab', words: ['gitlab'], url: 'https://gitlab.com/api/v4/' },
  { name: 'HubSpot', words: ['hubspot', 'crm'], url: 'https://api.hubapi.com/' },
  { name: 'Linear', words: ['linear'], url: 'https://api.linear.app/graphql' },
  { name: 'Notion', words: ['notion'], url: 'https://api.notion.com/v1/' },
  { name: 'PagerDuty', words: ['pagerduty'], url: 'https://api.pagerduty.com/' },
  { name: 'SendGrid', words: ['sendgrid'], url: 'https://api.sendgrid.com/v3/mail/send' },
  { name: 'Stripe', words: ['stripe', 'payment', '決済'], url: 'https://api.stripe.com/v1/' },
  { name: 'Trello', words: ['trello'], url: 'https://api.trello.com/1/' },
  { name: 'Twilio', words: ['twilio', 'sms'], url: 'https://api.twilio.com/2010-04-01/' },
];

/** What an HTTP request to a service starts with. */
export interface HttpPreset {
  readonly label: string;
  readonly config: { readonly url?: string };
}

/** The preset for what was searched in vain: at least its name. */
export function httpPresetFor(search: string): HttpPreset {
  const wanted = search.normalize('NFKC').trim().toLowerCase();
  const found = HTTP_SERVICES.find(({ words }) => words.some((word) => wanted.split(/\s+/).includes(word)));
  return found === undefined
    ? { label: search.trim().slice(0, MAX_LABEL), config: {} }
    : { label: found.name, config: { url: found.url } };
}

/** Characters; longer searches are sentences rather than names. */
const MAX_LABEL = 60;
