import type { TestPerson } from '@millrace/testing/admin';
import type { Page } from 'playwright-core';
import { askVisitor } from './visitor-approval.ts';

/** A page that people outside the organisation see. */
export interface VisitorScene {
  readonly name: string;
  readonly url: string;
  readonly open: (page: Page) => Promise<unknown>;
}

const FORM = {
  title: 'Apply for a place at the mill・粉挽き所の応募フォーム',
  description: 'It takes two minutes. 所要時間は約 2 分です。',
  fields: [
    { label: 'お名前', name: 'name', type: 'text', required: true },
    { label: 'E-mail', name: 'email', type: 'email', required: true, help: 'We answer to this address.' },
    { label: 'Start', name: 'start', type: 'date' },
    { label: 'Shift', name: 'shift', type: 'choice', choices: ['Morning', 'Evening'], required: true },
    { label: '曜日', name: 'days', type: 'choices', choices: ['月曜日', '火曜日', 'Sunday'] },
    { label: 'Anything else', name: 'note', type: 'paragraph' },
    { label: 'CV', name: 'cv', type: 'file', accept: '.pdf' },
    { label: 'I have read the rules of the mill', name: 'agreed', type: 'checkbox', required: true },
  ],
};

const CHAT = {
  title: 'Ask the mill・お問い合わせ',
  greeting: 'Hello! Ask me about orders and deliveries. ご注文や配送についてお答えします。',
  suggestions: ['Do you deliver on Sundays?', '注文の状況を知りたい'],
  answer:
    'You asked: **{{trigger.data.message}}**\n\n### Orders\n\n1. `Mill Lane 1`, open from 9 to 5\n2. https://example.com/orders/status?order=1234567890&language=ja\n\n| 商品 | Price |\n|---|--:|\n| ライ麦パン | 4.20 |\n| Wholemeal flour, 25 kg | 31.00 |\n\n> Fresh every morning.\n\n```\ncurl https://example.com/orders\n```',
};

/** Makes a form, a chat and approvals. @returns their pages */
export async function makeVisitorScenes(person: TestPerson, url: string): Promise<readonly VisitorScene[]> {
  const { call, organisationId: org } = person;
  const make = async (name: string, type: string, config: object): Promise<number> => {
    const flow = { nodes: [{ id: 'start', type, position: { x: 0, y: 0 }, data: { config } }], edges: [] };
    const { data, status, text } = await call('POST /orgs/:org/workflows', {
      params: { org },
      body: { name, status: 'active', flow_data: flow as never },
    });
    if (status !== 200) throw new Error(`${name}: ${text}`);
    return data.workflow.id;
  };
  const formId = await make('Applications', 'trigger.form', FORM);
  const chatId = await make('Help desk', 'trigger.chat', CHAT);
  const form = await call('GET /orgs/:org/workflows/:id/form', { params: { org, id: formId } });
  const chat = await call('GET /orgs/:org/workflows/:id/chat', { params: { org, id: chatId } });
  // Tests reach the service by another address than its public one.
  const here = (address: string) => url + new URL(address).pathname;
  const [formUrl, chatUrl] = [here(form.data.url), here(chat.data.url)];
  const [approvalUrl, decidedUrl] = [await askVisitor(person, url), await askVisitor(person, url)];
  const heading = (page: Page) => page.getByRole('heading').first().waitFor();
  return [
    { name: 'hosted-form', url: formUrl, open: heading },
    {
      name: 'hosted-form-refused',
      url: formUrl,
      open: sendUnfinished,
    },
    { name: 'hosted-form-gone', url: `${formUrl}x`, open: heading },
    { name: 'hosted-approval', url: `${approvalUrl}?choice=approve`, open: heading },
    { name: 'hosted-approval-refused', url: approvalUrl, open: sendUnfinished },
    { name: 'hosted-approval-gone', url: `${approvalUrl.slice(0, -3)}AAA`, open: heading },
    {
      name: 'hosted-approval-decided',
      url: decidedUrl,
      async open(page) {
        const reason = page.getByRole('checkbox', { name: 'Broken' });
        // It was decided with another look.
        if ((await reason.count()) === 0) return;
        await reason.check();
        await page.locator('form button').first().click();
        await page.locator('form').waitFor({ state: 'detached' });
      },
    },
    { name: 'hosted-chat', url: chatUrl, open: heading },
    {
      name: 'hosted-chat-answered',
      url: chatUrl,
      async open(page) {
        await page.locator('#suggestions button').last().click();
        await page.locator('article.theirs').nth(1).getByRole('link').waitFor();
      },
    },
  ];
}

/** Sends a form that lacks something, which browsers would ask for before they send anything. */
async function sendUnfinished(page: Page): Promise<void> {
  await page.locator('form').evaluate((each) => each.setAttribute('novalidate', ''));
  await page.locator('button[type=submit], form button').last().click();
  await page.locator('.fault').first().waitFor();
}
