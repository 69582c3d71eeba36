import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { createTestDatabase } from '@millrace/testing/database';
import pg from 'pg';
import pino from 'pino';
import { afterEach, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/settings/config.ts';
import { startService } from '../../src/start/start-service.ts';

vi.setConfig({ testTimeout: 240_000 });
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/**
 * Of one process with API and worker, as a mean of several minutes, because where a task of every minute falls differs. There were 115: a look
 * for work every five seconds (18, with those that heartbeats and notifications cause), 24 looks of storage and alerts, one heartbeat of five
 * statements every ten seconds, and the rest less often.
 */
const MAX_PER_MINUTE = 125;
const MINUTES = 5;

const MINUTE_MS = 60_000;

/** The statements that every connection of this process sends, while somebody counts them. */
class Statements {
  readonly byText = new Map<string, number>();
  #isCounting = false;
  #open = 0;

  constructor() {
    const client = pg.Client.prototype as unknown as { query: (...given: unknown[]) => unknown };
    const send = Reflect.get(client, 'query');
    const sent = (query: { readonly text: string }) => this.#sent(query);
    const answered = () => {
      this.#open -= 1;
    };
    vi.spyOn(client, 'query').mockImplementation(function (this: unknown, ...given: unknown[]) {
      const [query, done] = given;
      if (typeof done !== 'function') return send.apply(this, given);
      sent(query as { readonly text: string });
      return send.call(this, query, (...outcome: unknown[]) => {
        answered();
        done(...outcome);
      });
    });
  }

  #sent({ text }: { readonly text: string }): void {
    this.#open += 1;
    const first = text.trim().replace(/\s+/g, ' ').slice(0, 80);
    if (this.#isCounting) this.byText.set(first, (this.byText.get(first) ?? 0) + 1);
  }

  count(): void {
    this.byText.clear();
    this.#isCounting = true;
  }

  get total(): number {
    return this.byText.values().reduce((sum, count) => sum + count, 0);
  }

  /** Once everything that was sent is answered, and what follows from the answers has been sent and answered. */
  async settled(): Promise<void> {
    for (let quiet = 0; quiet < 5; ) {
      await turn();
      quiet = this.#open === 0 ? quiet + 1 : 0;
    }
  }
}

/** Lets so much of the service's time pass: what would be waited for is done at once, on however busy a machine. */
async function pass(ms: number, statements: Statements): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    await vi.advanceTimersByTimeAsync(50);
    await statements.settled();
  }
}

it('an idle service sends few statements in a minute', async () => {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'millrace-idle-'));
  const statements = new Statements();
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
  try {
    const config = loadConfig({ DATABASE_URL: database.url, MILLRACE_DATA_DIR: folder, PORT: '0' });
    const log = pino({ level: 'silent' });
    let service: Awaited<ReturnType<typeof startService>> | null = null;
    const starting = startService({ config, roles: { api: true, worker: true }, log }).then((started) => {
      service = started;
    });
    while (service === null) {
      await Promise.race([starting, turn()]);
      await vi.advanceTimersByTimeAsync(1);
    }
    // What follows a start once: the fourth minute still had 121.
    await pass(5 * MINUTE_MS, statements);
    statements.count();
    await pass(MINUTES * MINUTE_MS, statements);
    const { total, byText } = statements;
    const most = [...byText].toSorted(([, a], [, b]) => b - a);
    const list = most.map(([text, count]) => `${count} ${text}`).join('\n');
    expect(total, list).toBeLessThanOrEqual(MAX_PER_MINUTE * MINUTES);
    // A look for work every five seconds and after heartbeats, which also shows that the service was counted at all.
    const [text, count] = most[0] ?? ['', 0];
    expect(text).toMatch(/^SELECT f\.\*, NOT \(has_limited OR has_claimable/);
    expect(count).toBeGreaterThanOrEqual(12 * MINUTES);
    expect(count).toBeLessThan(30 * MINUTES);
    vi.useRealTimers();
    await (service as Awaited<ReturnType<typeof startService>>).stop();
  } finally {
    vi.useRealTimers();
    await rm(folder, { recursive: true, force: true });
    await database.drop();
  }
});
