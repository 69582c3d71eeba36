import { type JsonObject, parseJson } from '@millrace/engine';
import { type ModelRequest, type ModelServer, startModelServer } from '@millrace/testing/model-server';
import { pdfFile } from '@millrace/testing/pdf';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { approvalIn, decideOn, openWorld, outputOf, statusesOf, type World } from './world.ts';

let world: World;
let model: ModelServer;
let answer: (request: ModelRequest) => string;
let credential: number;

beforeAll(async () => {
  const usual = { key: 'sk-documents', answer: (request: ModelRequest) => answer(request) };
  model = await startModelServer({ ...usual, embed: ({ texts }) => texts.map(vectorOf) });
  world = await openWorld();
  credential = await world.addCredential('ai', {
    provider: 'openai_compatible',
    base_url: model.baseUrl('openai_compatible'),
    api_key: 'sk-documents',
  });
});
afterAll(async () => {
  await world.close();
  await model.close();
});
beforeEach(() => {
  world.outside.forget();
  world.mail.forget();
});

/** Vectors that say what a text is about: hours, berths. */
function vectorOf(text: string): readonly number[] {
  return [text.split(/open/i).length - 1, text.split(/metre/i).length - 1, 0.1];
}

async function store(name: string, content: string | Uint8Array, type: string) {
  const stored = await world.service.api('POST', `/files?name=${name}`, {
    key: world.key,
    raw: typeof content === 'string' ? content : new Uint8Array(content),
    headers: { 'content-type': type },
  });
  expect(stored.status, stored.text).toBe(201);
  return parseJson(stored.text);
}

describe('invoice-intake', () => {
  const INVOICE = { number: 'R-17', supplier: 'Ropes Ltd', net: 100, tax: 19, total: 119, currency: 'EUR' };
  let id: number;
  beforeAll(async () => {
    ({ id } = await world.importExample('invoice-intake', {
      ai_credential: credential,
      ai_model: 'harbour-small',
      limit: 500,
      accounting_url: world.outside.url,
      accounting_credential: await world.addToken(),
      mail_credential: await world.addMail(),
      accounts_email: 'accounts@example.com',
    }));
    world.outside.on('POST /invoices', { status: 201, body: { booked: true } });
  });

  async function handIn(invoice: JsonObject): Promise<number> {
    answer = () => JSON.stringify({ due_on: null, ...invoice });
    const file = await store('invoice.pdf', pdfFile(['Ropes Ltd, invoice R-17']), 'application/pdf');
    return world.execute(id, { email: 'ada@example.com', invoice: file });
  }

  it('books a small one whose sums are right, without asking', async () => {
    const execution = await world.finished(await handIn(INVOICE));
    expect(statusesOf(execution)).toMatchObject({ ask: 'skipped', book: 'success', refused: 'skipped' });
    expect(JSON.stringify(model.requests.at(-1))).toContain('Ropes Ltd, invoice R-17');
    expect(world.outside.to('POST /invoices')).toMatchObject([{ body: INVOICE }]);
  });

  it('asks a person if it is large, or if its sums are wrong', async () => {
    const large = await world.settled(await handIn({ ...INVOICE, net: 1_000, tax: 190, total: 1_190 }));
    expect(large.status).toBe('waiting_async');
    expect(world.mail.received).toMatchObject([{ attachments: ['invoice.pdf'] }]);
    expect(
      (await decideOn(approvalIn(world, world.mail.received[0]?.text ?? ''), { choice: 'approve' })).status,
    ).toBe(200);
    await world.finished(large.id);
    expect(world.outside.to('POST /invoices')).toHaveLength(1);

    world.mail.forget();
    const wrong = await world.settled(await handIn({ ...INVOICE, tax: 91 }));
    const page = approvalIn(world, world.mail.received[0]?.text ?? '');
    expect((await decideOn(page, { choice: 'reject', comment: 'Ask for a new one.' })).status).toBe(200);
    expect(statusesOf(await world.finished(wrong.id))).toMatchObject({ book: 'skipped', refused: 'success' });
    expect(world.mail.received.at(-1)).toMatchObject({
      to: ['ada@example.com'],
      text: expect.stringContaining('Ask for a new one.'),
    });
    expect(world.outside.to('POST /invoices')).toHaveLength(1);
  });
});

describe('knowledge-upload and knowledge-answers', () => {
  it('stores documents, replaces them, and answers from them alone', async () => {
    const vars = { ai_credential: credential, embedding_model: 'harbour-vectors' };
    const upload = await world.importExample('knowledge-upload', vars);
    const answers = await world.importExample('knowledge-answers', { ...vars, ai_model: 'harbour-small' });
    const add = async (name: string, file: unknown) =>
      world.finished(await world.execute(upload.id, { name, document: file } as JsonObject));
    const ask = async (question: string) => world.finished(await world.execute(answers.id, { question }));

    const hours = '# Office\n\nWe are open from 8 to 16.\n\n# Berths\n\nGuests pay 2.50 EUR per metre.\n';
    const added = await add('Harbour', await store('harbour.md', hours, 'text/markdown'));
    expect(added.status).toBe('completed');
    const pdf = pdfFile(['The café is open all night.']);
    await add('Café', await store('cafe.PDF', pdf, 'application/pdf'));

    answer = ({ messages }) => (JSON.stringify(messages).includes('8 to 16') ? 'From 8 to 16.' : 'Unknown.');
    const told = await ask('When are you open?');
    expect(outputOf(told, 'result')).toMatchObject({ answer: 'From 8 to 16.' });
    expect(outputOf(told, 'result').sources).toEqual(expect.arrayContaining(['Harbour', 'Café']));

    await add('Harbour', await store('harbour.md', '# Office\n\nWe are open on Mondays.\n', 'text/markdown'));
    const later = await ask('When are you open?');
    const { matches } = outputOf(later, 'search') as {
      readonly matches: readonly { readonly text: string }[];
    };
    expect(matches.map(({ text }) => text).join('\n')).not.toMatch(/8 to 16|metre/);
  });
});

describe('mailbox-triage', () => {
  it('opens a ticket for an order, tells of a complaint, and leaves the rest alone', async () => {
    const triage = await world.importExample('mailbox-triage', {
      mailbox: await world.addCredential('imap', {
        host: 'imap.example.com',
        username: 'support',
        password: 'not-a-real-one',
      }),
      ai_credential: credential,
      ai_model: 'harbour-small',
      desk_url: world.outside.url,
      desk_credential: await world.addToken(),
      chat_credential: await world.addChat('team'),
    });
    world.outside.on('POST /tickets', { status: 201, body: { id: 1 } });
    world.outside.on('POST /hooks/team', { body: 'ok' });
    const read = async (kind: string) => {
      answer = () => JSON.stringify({ reason: 'The parcel is late.', class: kind });
      return world.finished(await world.execute(triage.id, triage.sample('parcel.json')));
    };

    const kinds = ['order', 'complaint', 'other'];
    for (const kind of kinds) expect((await read(kind)).status, kind).toBe('completed');
    expect(world.outside.to('POST /tickets')).toMatchObject([
      { body: { from: 'jonas@example.com', reference: '<17@tea.example.com>' } },
    ]);
    expect(JSON.stringify(world.outside.to('POST /hooks/team').map(({ body }) => body))).toContain(
      'The parcel is late.',
    );
    expect(world.outside.received).toHaveLength(2);
  });
});
