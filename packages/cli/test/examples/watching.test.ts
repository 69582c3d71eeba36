import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openWorld, outputOf, statusesOf, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  world.outside.forget();
  world.outside.on('POST /hooks/team', { body: 'ok' });
});

const MONDAY = '2026-11-30T07:00:00Z';
const posts = () => world.outside.to('POST /hooks/team').map(({ body }) => JSON.stringify(body));

describe('feed-to-chat', () => {
  it('posts an item with one of the words, in whatever case, and no other', async () => {
    const feed = await world.importExample('feed-to-chat', {
      feed_url: `${world.outside.url}/feed`,
      words: ['STORM'],
      chat_credential: await world.addChat('team'),
    });
    const warning = feed.sample('storm-warning.json') as { readonly title: string };
    const told = await world.finished(await world.execute(feed.id, warning));
    const calm = { ...warning, title: 'Calm seas ahead', summary: 'Nothing to report.' };
    const passedOver = await world.finished(await world.execute(feed.id, calm));

    expect(statusesOf(told)).toEqual({ item: 'success', is_ours: 'success', tell: 'success' });
    expect(statusesOf(passedOver)).toMatchObject({ tell: 'skipped' });
    expect(posts()).toEqual([expect.stringContaining(warning.title)]);
  });
});

describe('weekly-digest', () => {
  const itemOf = (title: string, ageDays: number) => ({
    id: title,
    title,
    url: `https://news.example.com/${title}`,
    content_text: `About <${title}>.`,
    date_published: new Date(Date.now() - ageDays * 86_400_000).toISOString(),
  });
  const serve = (...items: object[]) =>
    world.outside.on('GET /feed', {
      headers: { 'content-type': 'application/feed+json' },
      body: { version: 'https://jsonfeed.org/version/1.1', title: 'Harbour', items },
    });

  it('mails what is new to each reader, and nothing in a week without news', async () => {
    const digest = await world.importExample(
      'weekly-digest',
      {
        feed_url: `${world.outside.url}/feed`,
        readers: ['ada@example.com', 'bo@example.com'],
        mail_credential: await world.addMail(),
      },
      { status: 'active' },
    );
    serve(itemOf('storm', 1), itemOf('calm', 6), itemOf('old', 8));
    const mailed = await world.finished(await world.fire(digest.id, MONDAY));

    expect(mailed).toMatchObject({ status: 'completed', display_name: 'Digest of 2026-11-30' });
    expect(world.mail.received.flatMap(({ to }) => to).sort()).toEqual(['ada@example.com', 'bo@example.com']);
    const [mail] = world.mail.received;
    expect(mail?.subject).toBe('Harbour: 2 in the last seven days');
    expect(mail?.text).toContain('https://news.example.com/storm');
    expect(mail?.text).not.toContain('https://news.example.com/old');

    serve(itemOf('old', 8));
    const quiet = await world.finished(await world.fire(digest.id, '2026-12-07T07:00:00Z'));
    expect(statusesOf(quiet)).toMatchObject({ recent: 'success', mail: 'skipped' });
    expect(world.mail.received).toHaveLength(2);
  });
});

describe('page-watch', () => {
  const show = (html: string) => world.outside.on('GET /clock', { body: html });

  it('tells of a change once, and fails if nothing matches any more', async () => {
    const watch = await world.importExample(
      'page-watch',
      {
        page_url: `${world.outside.url}/clock`,
        selector: '.price',
        chat_credential: await world.addChat('team'),
      },
      { status: 'active' },
    );
    const run = async (at: string) => world.finished(await world.fire(watch.id, at));

    show('<b class="price">12 €</b>');
    await run('2026-11-28T01:00:00Z');
    expect(posts()).toEqual([]);
    show('<b class="price">9 €</b>');
    await run('2026-11-28T02:00:00Z');
    expect(posts()).toEqual([expect.stringMatching(/9 €.*12 €/)]);
    await run('2026-11-28T03:00:00Z');
    expect(posts()).toHaveLength(1);
    show('<p>A new page</p>');
    const lost = await run('2026-11-28T04:00:00Z');
    expect(lost).toMatchObject({ status: 'failed', error: { code: 'selector_without_match' } });
    expect(posts()).toHaveLength(1);
  });
});

describe('uptime-check', () => {
  it('tells once that a site is down and once that it is back', async () => {
    const sites = ['shop', 'docs'].map((name) => `${world.outside.url}/${name}`);
    const check = await world.importExample(
      'uptime-check',
      { sites, chat_credential: await world.addChat('team') },
      { status: 'active' },
    );
    const run = async (at: string) => world.finished(await world.fire(check.id, at));
    world.outside.on('GET /docs', { body: 'fine' });
    world.outside.on('GET /shop', { status: 503 });

    const down = await run('2026-11-28T05:00:00Z');
    expect(outputOf(down, 'compare').result).toMatchObject({ failed: [{ url: sites[0] }], recovered: [] });
    expect(world.outside.to('GET /shop')).toHaveLength(2);
    await run('2026-11-28T05:05:00Z');
    expect(posts()).toEqual([expect.stringContaining('Down: Our sites')]);

    world.outside.on('GET /shop', { body: 'fine' });
    await run('2026-11-28T05:10:00Z');
    await run('2026-11-28T05:15:00Z');
    expect(posts().slice(1)).toEqual([expect.stringContaining(`Back: ${sites[0]}`)]);
  });
});
