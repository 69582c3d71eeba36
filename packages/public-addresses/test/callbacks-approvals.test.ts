import { listPendingApprovals } from '@millrace/service/callbacks/store';
import { decideApproval } from '@millrace/service/callbacks/use';
import { type ApiAnswer, send } from '@millrace/testing/api';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Receiver } from '../../cli/test/faults/support/receiver.ts';
import { flowOf } from '../../runtime/test/worker/flows.ts';
import { startWorkingService, type WorkingService } from '../../runtime/test/worker/service-with-worker.ts';

let shared: WorkingService;
/** The shared one, unless the test uses its own. */
let service: WorkingService;
let receiver: Receiver;
beforeAll(async () => {
  // One key makes the requests of all tests.
  shared = await startWorkingService({ limits: { requestsPerMinutePerKey: 0 } });
});
afterAll(() => shared.stop());
beforeEach(async () => {
  receiver = await Receiver.start();
  service = shared;
});
afterEach(() => receiver.stop());

/** For a test that reads all there is. */
async function useOwnService(): Promise<void> {
  const own = await startWorkingService();
  onTestFinished(() => own.stop());
  service = own;
}

interface Links {
  readonly approval_url: string;
  readonly approve_url: string;
}

/** Starts an execution that requests an approval, and returns its id. */
async function asking(more: object = {}, fields: object = {}): Promise<number> {
  const body = { approval_url: '{{args.approval_url}}', approve_url: '{{args.approve_url}}' };
  const request = { url: receiver.url('/ask'), body };
  const config = {
    title: 'Refund order {{trigger.data.id}}?',
    text: '{{trigger.data.why}}',
    request,
    ...more,
  };
  const flow = flowOf(
    [
      ['ask', 'wait.approval', { config }],
      ['refund', 'core.set', { config: { values: { done: true } } }],
      ['keep', 'core.set', { config: { values: { done: false } } }],
    ],
    ['start>ask', 'ask:approve>refund', 'ask:reject>keep'],
  );
  const workflowId = await service.createWorkflow(flow, fields);
  return service.execute(workflowId, { id: 17, why: 'Arrived broken' });
}

/** Path and query of an address the receiver got, on the test's own service. */
async function linkOf(name: keyof Links = 'approval_url'): Promise<string> {
  const links = (await receiver.arrival('/ask', 1)).map(({ body }) => body as Links);
  const url = links[0]?.[name] ?? '';
  expect(url).toMatch(/^https:\/\/flows\.example\/api\/v1\/approvals\/[A-Za-z0-9_-]{43}/);
  return service.url + url.slice('https://flows.example'.length);
}

const read = async (link?: string): Promise<ApiAnswer> => send(link ?? (await linkOf()), 'GET');

async function decide(form: { [name: string]: string }, link?: string): Promise<ApiAnswer> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return send(link ?? (await linkOf()), 'POST', { raw: new URLSearchParams(form).toString(), headers });
}

const FIELDS = [
  {
    label: 'Amount <gross>',
    name: 'choice',
    type: 'number',
    required: true,
    value: '{{trigger.data.id | string}}',
  },
  { label: 'Reasons', name: 'reasons', type: 'choices', choices: ['Broken', 'Late & wet'], required: true },
  { label: 'Tell the customer', name: 'tell', type: 'checkbox' },
  { label: 'Note', name: 'note', type: 'paragraph', help: 'For the books' },
];

describe('fields', () => {
  test('are shown, checked, and in the output with the decision', async () => {
    const id = await asking({ fields: FIELDS });
    const page = await read();
    expect(page.text).toContain('Amount &lt;gross&gt;');
    expect(page.text).toMatch(/name="field\.choice" required[^>]* value="17"/);
    expect(page.text).toContain('name="field.reasons" value="Late &amp; wet"');
    expect(page.text).toContain('For the books');

    const entered = { 'field.choice': 'a lot', 'field.note': ' <b>', comment: 'my comment', name: 'Ada' };
    const refused = await decide({ choice: 'approve', ...entered });
    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(/aria-invalid="true"[^>]* value="a lot"/);
    for (const kept of ['\n &lt;b&gt;</textarea>', 'my comment', 'value="Ada"'])
      expect(refused.text).toContain(kept);
    expect((await service.read(id)).node_outputs.ask?.status).toBe('waiting');

    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'accept-language': 'ja',
    };
    const japanese = await send(await linkOf(), 'POST', { raw: 'choice=approve&field.choice=1', headers });
    expect([japanese.status, japanese.text.includes('入力してください')]).toEqual([422, true]);

    const form = new URLSearchParams([
      ['choice', 'approve'],
      ['field.choice', '１７.50'],
      ['field.reasons', 'Broken'],
      ['field.reasons', 'Late & wet'],
      ['field.unknown', 'x'],
      ['comment', 'fine'],
    ]);
    const accepted = await send(await linkOf(), 'POST', { raw: form.toString(), headers });
    expect(accepted.status).toBe(200);
    const { node_outputs: outputs } = await service.finished(id);
    expect(outputs.ask?.output).toMatchObject({
      decision: 'approve',
      comment: 'fine',
      values: { choice: 17.5, reasons: ['Broken', 'Late & wet'], tell: false, note: null },
    });
    expect(outputs.refund?.status).toBe('success');
  });

  test("that can't be asked for fail the node, also if a template makes them so", async () => {
    const twice = [
      { label: 'A', name: 'a', type: 'text' },
      { label: 'B', name: '{{trigger.data.name}}', type: 'text' },
    ];
    const flow = flowOf([['ask', 'wait.approval', { config: { title: 'x', fields: twice } }]], ['start>ask']);
    const id = await service.execute(await service.createWorkflow(flow), { name: 'a' });
    expect(await service.finished(id)).toMatchObject({ status: 'failed', error: { code: 'invalid_config' } });
  });
});

describe('the page', () => {
  test('shows the question, and reading it decides nothing', async () => {
    const id = await asking();
    const page = await read();
    expect(page.status).toBe(200);
    expect(page.text).toContain('<h1>Refund order 17?</h1>');
    expect(page.text).toContain('Arrived broken');
    expect(page.text).toContain('<button type="submit" name="choice" value="approve">Approve</button>');
    for (let n = 0; n < 3; n++) await read(await linkOf('approve_url'));
    await send(await linkOf('approve_url'), 'HEAD');
    expect((await service.read(id)).node_outputs.ask?.status).toBe('waiting');
    const rows = await service.database.db.query(
      'SELECT FROM callbacks WHERE used_at IS NULL AND execution_id = $1',
      [id],
    );
    expect(rows).toHaveLength(1);
  });

  test('is in the language that the browser asks for, before and after the decision', async () => {
    await asking();
    const link = await linkOf();
    const languages = [
      ['ja-JP,ja;q=0.9,en;q=0.8', 'ja', 'コメント', '承認', 'いずれかのボタン'],
      ['de, ja;q=0.3', 'ja', 'お名前', '却下', 'いずれかのボタン'],
      ['en-GB,ja;q=0.5', 'en', 'Comment', 'Approve', 'Press one of the buttons'],
      ['de', 'en', 'Your name', 'Reject', 'Press one of the buttons'],
      ['*', 'en', 'Your name', 'Reject', 'Press one of the buttons'],
    ] as const;
    for (const [wanted, language, field, choice, mistake] of languages) {
      const headers = { 'accept-language': wanted };
      const page = await send(link, 'GET', { headers });
      expect(page.headers.get('content-language')).toBe(language);
      expect(page.headers.get('vary')).toContain('accept-language');
      expect(page.text).toContain(`<html lang="${language}">`);
      const optional = language === 'ja' ? '（任意）' : '(optional)';
      expect(page.text).toContain(`>${field} <span class="note">${optional}</span></label>`);
      expect(page.text).toContain(`>${choice}</button>`);
      // The question stays as its author wrote it.
      expect(page.text).toContain('<h1>Refund order 17?</h1>');
      expect((await send(link, 'POST', { headers, body: {} })).text).toContain(mistake);
    }
    const headers = { 'accept-language': 'ja' };
    const decided = await send(link, 'POST', { headers, body: { choice: 'approve' } });
    expect(decided.text).toContain('回答: 承認。');
    expect((await send(link, 'GET', { headers })).text).toContain('すでに回答済みです');
    expect((await send(`${link}A`, 'GET', { headers })).text).toContain('見つかりません');
    expect((await read(link)).text).toContain('Already decided');
  });

  test("doesn't translate the author's own texts", async () => {
    const choices = [
      { id: 'approve', label: 'Pay it' },
      { id: 'reject', label: 'Reject' },
    ];
    await asking({ choices });
    const page = await send(await linkOf(), 'GET', { headers: { 'accept-language': 'ja' } });
    expect(page.text).toContain('>Pay it</button>');
    expect(page.text).toContain('>却下</button>');
  });

  test('preselects the choice of its link, if there is such a choice', async () => {
    await asking();
    const ready = '<button type="submit" name="choice" value="approve" class="ready" autofocus>';
    expect((await read(await linkOf('approve_url'))).text).toContain(ready);
    const other = await read(`${await linkOf()}?choice=%22%3E%3Cscript%3E`);
    expect(other.status).toBe(200);
    expect(other.text).not.toContain('class="ready"');
    expect(other.text).not.toContain('<script');
  });

  test('runs and loads nothing, is never cached and sends no referrer', async () => {
    await asking();
    const { headers, text } = await read();
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(policy).not.toContain('script');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-robots-tag')).toContain('noindex');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(text).not.toMatch(/<script|<img|<link|src=|https?:/);
    expect(text).toContain('name="viewport"');
    expect(text).toContain('prefers-color-scheme: dark');
  });

  test('shows hostile texts as text', async () => {
    const hostile = `</title></style><script>alert(1)</script>"'<img src=x onerror=alert(1)>&amp;`;
    const id = await asking({
      title: hostile,
      text: hostile,
      choices: [
        { id: 'approve', label: hostile },
        { id: 'reject', label: 'Reject' },
      ],
    });
    const page = await read();
    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(/<script|<img|onerror=alert\(1\)>[^&]*</);
    expect(page.text.match(/&lt;script&gt;alert\(1\)&lt;\/script&gt;&quot;&#39;/g)).toHaveLength(4);
    const decided = await decide({ choice: 'approve', comment: hostile, name: hostile });
    expect(decided.status).toBe(200);
    expect(decided.text).not.toMatch(/<script|<img/);
    const detail = await service.finished(id);
    expect(detail.node_outputs.ask?.output).toMatchObject({
      comment: hostile,
      decided_by: { name: hostile },
    });
  });
});

describe('the decision', () => {
  test('continues on its branch, with who, when and why in the output', async () => {
    const id = await asking();
    const before = Date.now();
    const answer = await decide({ choice: 'approve', comment: '  Fine \n', name: 'Ada' });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('Decided: Approve');
    const detail = await service.finished(id);
    const output = detail.node_outputs.ask?.output;
    expect(output).toEqual({
      decision: 'approve',
      comment: 'Fine',
      decided_by: { via: 'link', name: 'Ada' },
      decided_at: expect.stringMatching(/Z$/),
    });
    expect(Date.parse(String(output?.decided_at))).toBeGreaterThanOrEqual(before - 1_000);
    expect(detail.node_outputs).toMatchObject({
      refund: { status: 'success' },
      keep: { status: 'skipped' },
    });
  });

  test('can be sent as JSON, without comment and name', async () => {
    const id = await asking();
    expect((await send(await linkOf(), 'POST', { body: { choice: 'reject' } })).status).toBe(200);
    const detail = await service.finished(id);
    expect(detail.node_outputs.ask?.output).toMatchObject({
      decision: 'reject',
      comment: '',
      decided_by: { via: 'link', name: null },
    });
    expect(detail.node_outputs.keep?.status).toBe('success');
  });

  test('counts once: the first of twenty', async () => {
    const id = await asking();
    const link = await linkOf();
    const choices = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? 'approve' : 'reject'));
    const answers = await Promise.all(choices.map((choice) => decide({ choice }, link)));
    const taken = answers.flatMap(({ status }, n) => (status === 200 ? [choices[n]] : []));
    expect(taken).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
    expect((await service.finished(id)).node_outputs.ask?.output.decision).toBe(taken[0]);
    const again = await read(link);
    expect(again.status).toBe(409);
    expect(again.text).toContain('Already decided');
  });

  test('must be one of the choices', async () => {
    const id = await asking();
    for (const form of [{}, { choice: 'other' }, { choice: 'timeout' }]) {
      const answer = await decide(form as { [name: string]: string });
      expect(answer.status).toBe(422);
      expect(answer.text).toContain('Press one of the buttons');
    }
    expect((await service.read(id)).node_outputs.ask?.status).toBe('waiting');
  });

  test('comes too late after the execution has ended or the time is over', async () => {
    const id = await asking();
    const link = await linkOf();
    await service.database.db.query(
      "UPDATE callbacks SET expires_at = now() - interval '1 second' WHERE execution_id = $1",
      [id],
    );
    for (const answer of [await read(link), await decide({ choice: 'approve' }, link)]) {
      expect(answer.status).toBe(410);
      expect(answer.text).toContain('Too late');
    }
    await service.api('POST', `/executions/${id}/cancel`, { key: service.key });
    for (const answer of [await read(link), await decide({ choice: 'approve' }, link)]) {
      expect(answer.status).toBe(409);
      expect(answer.text).toContain('No longer needed');
    }
  });

  test("can't be made with a guessed token", async () => {
    const id = await asking();
    const link = await linkOf();
    const last = link.at(-1) === 'A' ? 'B' : 'A';
    for (const guess of [link.slice(0, -1) + last, link.slice(0, -1), `${link}A`]) {
      const pages = [await read(guess), await decide({ choice: 'approve' }, guess)];
      for (const page of pages) {
        expect(page.status).toBe(404);
        expect(page.text).not.toContain('Refund');
      }
    }
    expect((await service.read(id)).node_outputs.ask?.status).toBe('waiting');
  });
});

describe('for the admin area', () => {
  test('pending decisions can be listed and decided', async () => {
    await useOwnService();
    const id = await asking();
    await linkOf();
    const { db } = service.database;
    const { organisationId } = service.key;
    const [pending] = await listPendingApprovals(db, organisationId, Number.MAX_SAFE_INTEGER, 10);
    expect(pending).toMatchObject({ execution_id: id, node_id: 'ask', title: 'Refund order 17?' });
    const decision = {
      choice: 'reject',
      comment: 'No',
      decidedBy: { via: 'member', member_id: 3, email: 'ada@example.org' },
    } as const;
    const other = await service.createOrganisation();
    expect(await listPendingApprovals(db, other, Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
    // An address of another attempt isn't a second question.
    await db.query(
      `INSERT INTO callbacks (organisation_id, execution_id, node_id, iteration, kind, token_hash, expires_at, title,
         message, choices)
       SELECT organisation_id, execution_id, node_id, iteration, kind, sha256('other'), expires_at, title, message, choices
       FROM callbacks`,
    );
    expect(await listPendingApprovals(db, organisationId, Number.MAX_SAFE_INTEGER, 10)).toHaveLength(1);
    expect(await decideApproval(db, other, pending?.id ?? 0, decision)).toBe('unknown');
    expect(await decideApproval(db, organisationId, pending?.id ?? 0, decision)).toBe('accepted');
    expect(await decideApproval(db, organisationId, pending?.id ?? 0, decision)).toBe('used');
    expect(await listPendingApprovals(db, organisationId, Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
    expect((await service.finished(id)).node_outputs.ask?.output).toMatchObject({
      decision: 'reject',
      decided_by: { via: 'member', email: 'ada@example.org' },
    });
  });
});

describe('the node', () => {
  test('takes the branch timeout if nobody decides', async () => {
    const detail = await service.finished(await asking({ timeout_s: 1 }));
    expect(detail.node_outputs).toMatchObject({
      ask: { status: 'success', output: { decision: null, timed_out: true } },
      refund: { status: 'skipped' },
      keep: { status: 'skipped' },
    });
  });

  test('asks nobody in test mode: it records what it would have sent, and takes the first choice', async () => {
    const id = await asking({}, { is_test_mode: true });
    const detail = await service.finished(id);
    expect(receiver.received).toEqual([]);
    const rows = await service.database.db.query('SELECT FROM callbacks WHERE execution_id = $1', [id]);
    expect(rows).toEqual([]);
    const masked = 'https://flows.example/api/v1/approvals/***';
    expect(detail.node_outputs).toMatchObject({
      ask: {
        output: {
          dry_run: true,
          decision: 'approve',
          request: {
            dry_run: true,
            request: { body: { approval_url: masked, approve_url: `${masked}?choice=approve` } },
          },
        },
      },
      refund: { status: 'success' },
      keep: { status: 'skipped' },
    });
  });

  test('shows its question while it waits, but not its links', async () => {
    const id = await asking();
    const link = await linkOf();
    await expect.poll(async () => (await service.read(id)).status).toBe('waiting_async');
    const detail = await service.read(id);
    expect(detail.node_outputs.ask).toMatchObject({
      status: 'waiting',
      output: { title: 'Refund order 17?', text: 'Arrived broken', choices: [{ id: 'approve' }, {}] },
      waiting: { for: 'signal' },
    });
    await read(link);
    const token = link.split('/').at(-1) ?? '';
    expect(JSON.stringify(detail)).not.toContain(token);
    expect(service.logs.join('')).not.toContain(token);
  });
});
