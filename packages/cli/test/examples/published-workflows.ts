import type { JsonObject, JsonValue } from '@millrace/engine';
import type { Reply } from '@millrace/testing/outside';

/** A published workflow, by its file, with what surrounds it: nobody's workflow is part of this repository. */
export interface Published {
  readonly file: string;
  /** What services answer, by their requests: the host is the first part of the path. */
  readonly replies: { readonly [line: string]: Reply };
  /** What starts it. */
  readonly input?: JsonValue;
  /** The same as n8n has it, by the name of the trigger. */
  readonly pinned?: { readonly [node: string]: readonly JsonObject[] };
  /** Nodes that neither runs. */
  readonly leftOut?: readonly string[];
  /** Constants, which n8n reads from its environment. */
  readonly vars?: { readonly [name: string]: string };
}

const said = (content: string): Reply => ({ body: { choices: [{ message: { content } }] } });
const asText = (response: string): Reply => ({ body: JSON.stringify({ response }) });

export const PUBLISHED: readonly Published[] = [
  {
    file: '000',
    replies: {
      'POST /api.openai.com/v1/chat/completions': said(
        '```json\n{"title": "A mill", "description": "It \\"turns\\".", "keywords": ["mill", " wind "]}\n```',
      ),
    },
    input: { imageUrl: 'https://example.com/mill.jpg' },
    pinned: { Webhook: [{ body: { imageUrl: 'https://example.com/mill.jpg' } }] },
  },
  {
    file: '026',
    replies: {
      'GET /umami.mydomain.com/*': {
        body: {
          pageviews: { value: 12, prev: 7 },
          visitors: { value: 5, prev: 4 },
          visits: { value: 6, prev: 5 },
          bounces: { value: 2, prev: 1 },
          totaltime: { value: 100, prev: 90 },
        },
      },
      'POST /openrouter.ai/api/v1/chat/completions': said('| X | Y |'),
      'GET /umami.rumjahn.synology.me/*': {
        body: [
          { x: '/', y: 3 },
          { x: '/mill', y: 2 },
        ],
      },
      'POST /api.baserow.io/*': { body: { token: 't', id: 1 } },
      'GET /api.baserow.io/*': { body: [] },
    },
  },
  {
    file: '037',
    replies: {
      'POST /api.openai.com/v1/audio/speech': { body: 'audio', headers: { 'content-type': 'audio/mpeg' } },
    },
  },
  {
    file: '048',
    replies: {
      'POST /api.firecrawl.dev/v1/scrape': {
        body: { data: { metadata: { title: 'T', description: 'D' }, markdown: '# T', links: ['a'] } },
      },
    },
  },
  {
    file: '067',
    replies: {
      'GET /jsonplaceholder.typicode.com/users': {
        body: [
          { id: 1, name: ' Ada ', email: 'ADA@example.com', website: 'a.example' },
          { id: 2, name: 'Bo' },
        ],
      },
    },
  },
  { file: '069', replies: { 'POST /localhost:11434/api/generate': { body: { response: 'Welcome' } } } },
  {
    file: '072',
    replies: {
      'GET /api.glasp.co/v1/highlights/export': {
        body: { results: [{ id: 'a', title: 'A', highlights: [{ text: 'x' }] }], nextPageCursor: null },
      },
    },
  },
  {
    file: '075',
    replies: {
      'GET /api.livetennisapi.com/*': {
        body: {
          data: [1, 2].map((id) => ({
            id,
            status: 'live',
            players: { p1: { name: `A${id}` }, p2: { name: 'B' } },
          })),
        },
      },
      'POST /discord.com/*': { body: {} },
    },
    vars: { discord_id: '1', discord_token: 'x' },
  },
  {
    file: '088',
    replies: {
      'GET /api.coinpaprika.com/v1/tickers/btc-bitcoin': {
        body: { quotes: { USD: { price: 97123.456, percent_change_24h: -6.5, percent_change_7d: 1.234 } } },
      },
      'POST /api.telegram.org/*': { body: { ok: true, result: {} } },
    },
  },
  { file: '093', replies: { 'GET /localhost:11434/api/generate': asText('Five "points"') } },
  {
    file: '094',
    replies: {
      'POST /latchshot.fly.dev/v1/render': { body: 'png', headers: { 'content-type': 'image/png' } },
    },
  },
  {
    file: '095',
    replies: {
      'GET /inserisci-la-tua-api/lista.json': {
        body: {
          items: [
            { ts: 2, tipo: 'errore', testo: 'B' },
            { ts: 1, tipo: 'info', testo: 'A' },
          ],
        },
      },
      'POST /api.telegram.org/*': { body: { ok: true, result: {} } },
    },
    vars: { TELEGRAM_CHAT_ID: '77' },
  },
  {
    file: '098',
    replies: {
      'GET /myserpbearinstance.com/api/keyword': {
        body: {
          keywords: [{ keyword: 'mill', position: 3, url: 'https://a.example', history: { a: 5, b: 4 } }],
        },
      },
      'POST /openrouter.ai/api/v1/chat/completions': said('Do this'),
      'POST /api.baserow.io/*': { body: { token: 't', id: 1 } },
      'GET /api.baserow.io/*': { body: [] },
    },
  },
  {
    file: '028',
    replies: {
      'GET /esempio.com/': { body: { up: false } },
      'POST /api.telegram.org/*': { body: { ok: true, result: {} } },
    },
    vars: { TELEGRAM_CHAT_ID: '77' },
  },
  {
    file: '085',
    replies: {
      'POST /api-inference.huggingface.co/*': { body: 'jpg', headers: { 'content-type': 'image/jpeg' } },
      'GET /s3.example.com/*': {
        body: '<LocationConstraint>eu</LocationConstraint>',
        headers: { 'content-type': 'application/xml' },
      },
      'PUT /s3.example.com/*': { body: '' },
    },
    input: { 'Prompt to flux': 'A mill', Style: 'Neon Fauvism' },
    pinned: { 'n8n Form Trigger': [{ 'Prompt to flux': 'A mill', Style: 'Neon Fauvism' }] },
    vars: { s3_url: 'https://s3.example.com' },
  },
  {
    file: '102',
    replies: {
      'GET /proj.supabase.co/*': { body: [] },
      'POST /proj.supabase.co/*': { body: [{ id: 5, telegram_id: 7, openai_thread_id: 'th1' }] },
      'POST /api.openai.com/*': { body: { id: 'th1' } },
      'GET /api.openai.com/*': { body: { data: [{ content: [{ text: { value: 'Hello' } }] }] } },
      'POST /api.telegram.org/*': { body: { ok: true, result: {} } },
    },
    input: { message: { chat: { id: 7 }, text: 'Hi' } },
    pinned: { 'Get New Message': [{ message: { chat: { id: 7 }, text: 'Hi' } }] },
    vars: { supabase_project: 'proj' },
  },
  {
    file: '104',
    replies: {
      'GET /www.googleapis.com/drive/*': { body: 'PDF', headers: { 'content-type': 'application/pdf' } },
      'POST /api.anthropic.com/*': { body: {} },
      'POST /generativelanguage.googleapis.com/*': { body: {} },
    },
  },
  {
    file: '001',
    replies: {
      'POST /language.googleapis.com/*': { body: { documentSentiment: { score: -0.4 } } },
      'POST /chat.example.com/*': { body: {} },
    },
    input: { 'What did you think about the event?': 'Too "short"' },
    pinned: { 'Typeform Trigger': [{ 'What did you think about the event?': 'Too "short"' }] },
    vars: { mattermost_mattermost: 'chat.example.com' },
  },
  {
    file: '016',
    leftOut: ['Compare scores'],
    replies: {
      'POST /152bc6e2-832a-415c-a1aa-fb529f8baf8d.eu-central-1-0.aws.cloud.qdrant.io/*': {
        body: { result: { count: 9, hits: [{ value: 'rice' }, { value: 'gram' }], points: [] } },
      },
      'POST /api.voyageai.com/v1/multimodalembeddings': { body: { data: [{ embedding: [0.25, 0.5] }] } },
    },
    input: { query: { imageURL: 'https://example.com/rice.jpg' } },
    pinned: { 'Execute Workflow Trigger': [{ query: { imageURL: 'https://example.com/rice.jpg' } }] },
  },
  {
    file: '034',
    replies: {
      'POST /commentanalyzer.googleapis.com/*': {
        body: { attributeScores: { PROFANITY: { summaryScore: { value: 0.9 } } } },
      },
      'POST /api.telegram.org/*': { body: { ok: true, result: {} } },
    },
    input: { message: { text: 'Grr', message_id: 5, chat: { id: 7 } } },
    pinned: { 'Telegram Trigger': [{ message: { text: 'Grr', message_id: 5, chat: { id: 7 } } }] },
  },
  {
    file: '079',
    replies: {
      'POST /language.googleapis.com/*': { body: { documentSentiment: { score: -0.4 } } },
      'POST /api.trello.com/*': { body: { id: 'c1' } },
    },
    input: { Name: 'Ada', 'Any suggestions for us? ': 'More seats' },
    pinned: { 'Typeform Trigger': [{ Name: 'Ada', 'Any suggestions for us? ': 'More seats' }] },
  },
];
