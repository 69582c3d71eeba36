import { runInNewContext } from 'node:vm';
import { type JsonValue, parseTemplate, render } from '@millrace/engine';
import { extend, template } from '@millrace/importer-kit/refs';
import { describe, expect, it } from 'vitest';
import type { Reading } from './expressions.ts';
import { translate } from './translate.ts';

const reading: Reading = {
  current: (names) => extend('trigger.data', names),
  earlier: () => null,
  argument: () => null,
  variable: () => null,
};

const NOW_MS = Date.parse('2026-03-05T10:20:30Z');

const DATA = {
  name: ' Ada Lovelace ',
  email: '',
  total: 12.5,
  count: 3,
  zero: 0,
  paid: true,
  status: 'open',
  text: 'Ticket #4711: <b>Über</b>\nline',
  json: '{"a":[1]}',
  tags: ['b', 'a', 'b'],
  lines: [
    { sku: 'x', price: 9.5, quantity: 2, on: true },
    { sku: 'y', price: 1, quantity: 0, on: false },
  ],
  user: { name: 'ada', 'full name': 'Ada L.' },
};

function rendered(code: string): JsonValue {
  const text = translate(code, reading);
  if (text === null) throw new Error(`${code} stays code`);
  const parsed = parseTemplate(template(text));
  if (!parsed.ok) throw new Error(`${text} isn't a template`);
  const scope = { triggerData: DATA, executionId: 1, vars: {}, nowMs: NOW_MS, nodeOutput: () => null };
  return render(parsed.template, scope, 100_000);
}

describe('what becomes a template gives what JavaScript gives', () => {
  it.each([
    '$json.total * $json.count - 1',
    '-$json.count + $json.name.length',
    '($json.total * 1) / 5 % 2',
    '$json.count > 2 && $json.total <= 12.5',
    '$json.status === "open" ? "yes" : "no"',
    '$json.zero ? 1 : $json.email ? 2 : 3',
    '$json.email || $json.name',
    '$json.email ?? "none"',
    '$json.nobody?.name ?? "none"',
    '!$json.email && !!$json.paid',
    '"Hi " + $json.user.name + ", " + $json.count',
    '1 + 2 + "x" + 1 + 2',
    '`${$json.user["full name"]} <${$json.user.name}>`',
    '$json.name.trim().toUpperCase().split(" ")',
    '$json.text.includes("4711")',
    '$json.tags.includes("a")',
    '$json.status.startsWith("op") || $json.status.endsWith("x")',
    '!$json.text.startsWith("/")',
    '$json.text.substring(0, 6)',
    '$json.tags.slice(1)',
    '$json.text.replace(/<[^>]*>/g, "")',
    '$json.text.replace(/TICKET/gi, "Case").replaceAll("\\n", " ")',
    '/#[0-9]+/.test($json.text)',
    '$json.text.match(/#([0-9]+)/)[1]',
    'JSON.parse($json.json)',
    'Math.round($json.total * 100) / 100',
    'Math.round(-2.5)',
    'Math.floor(-$json.total) + Math.ceil($json.total) + Math.abs(-2)',
    'Number("12.50") * 2',
    '$json.lines.map((line) => line.price * line.quantity)',
    '$json.lines.filter(line => line.on && line.price > $json.count).map(line => line.sku).join("-")',
    '$json.lines.find((line) => line.quantity === 0).sku === undefined',
    '$json.lines.some((line) => line.price < 2)',
    '$json.lines.map(l => `* ${l.sku}: ${l.quantity}`).join("\\n")',
  ])('%s', (code) => {
    // A member of what a function returns can't be read: that stays code.
    if (code.includes('.find(')) expect(translate(code, reading)).toBeNull();
    else expect(rendered(code)).toEqual(JSON.parse(JSON.stringify(runInNewContext(code, { $json: DATA }))));
  });
});

describe('dates and functions of n8n', () => {
  it.each([
    ['$now', '2026-03-05T10:20:30.000Z'],
    ['$now.toISO()', '2026-03-05T10:20:30.000Z'],
    ['new Date().toISOString()', '2026-03-05T10:20:30.000Z'],
    ['$today', '2026-03-05T00:00:00.000Z'],
    ['$now.minus({ days: 7, hours: 1 }).toISO()', '2026-02-26T09:20:30.000Z'],
    ["$now.plus(1, 'month').startOf('month').toFormat('dd.LL.yyyy')", '01.04.2026'],
    ['DateTime.now().toFormat("cccc d LLLL yyyy")', 'Thursday 5 March 2026'],
    ["DateTime.fromISO('2026-01-31').plus({ days: 1 }).toISODate()", '2026-02-01'],
    ['Date.now() - 7 * 24 * 60 * 60 * 1000', NOW_MS - 604_800_000],
    ['$now.toMillis()', NOW_MS],
    ['$ifEmpty($json.email, $ifEmpty($json.nobody, "none"))', 'none'],
    ['$if($json.paid, "paid", "due")', 'paid'],
    ['$json.lines.isEmpty()', false],
    ['$json.tags.unique().length', 2],
    ['$execution.id.toNumber() - 1', 0],
  ])('%s', (code, expected) => {
    expect(rendered(code)).toEqual(expected);
  });
});

it.each([
  // Adds or joins, depending on the data.
  '$json.total + $json.count',
  // The first one only, or with what a group has found.
  '$json.text.replace("a", "b")',
  '$json.text.replace(/(a)/g, "<$1>")',
  '$json.text.replace(/a/, "b")',
  // Not in linear time.
  '$json.text.replace(/a(?=b)/g, "")',
  // An item of a list within an item of another.
  '$json.lines.map(a => $json.tags.filter(b => b === a.sku))',
  '$json.lines.map(() => 1)',
  '$json.lines.map((line, index) => index)',
  '$json.text.slice(-3)',
  '$now.toFormat("DDD")',
  '$now.plus({ [$json.status]: 1 })',
  'typeof $json.text',
  '(() => { return 1; })()',
  '$json.constructor.constructor("return 1")()',
  `$json.a${' || $json.a'.repeat(300)}`,
])('%s stays code', (code) => {
  expect(translate(code, reading)).toBeNull();
});
