import { type JsonValue, parseJson, stringifyJson } from '@millrace/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from './code-sandbox.ts';

let code: Sandbox;
beforeAll(() => {
  code = startSandbox({ maxOutputBytes: 1024 * 1024, maxThreads: 2 });
});
afterAll(() => code.close());

const AsyncFunction = (async () => null).constructor as new (
  ...names: string[]
) => (input: unknown) => Promise<JsonValue>;

/** What Node makes of the same code; errors by name and message. */
async function inNode(source: string): Promise<unknown> {
  return JSON.parse(JSON.stringify(await new AsyncFunction('input', source)({})));
}

/** Many lines in one run: a line that throws yields the name of the error. */
function collected(lines: readonly string[]): string {
  const calls = lines.map((line) => `attempt(async () => { ${line} })`).join(',\n');
  return `const attempt = async (run) => { try { return await run(); } catch (error) { return 'threw ' + error.name; } };
    return Promise.all([${calls}]);`;
}

async function expectSame(lines: readonly string[]): Promise<void> {
  const source = collected(lines);
  const [ours, nodes] = await Promise.all([code.resultOf(source), inNode(source)]);
  const list = nodes as unknown[];
  for (const [index, line] of lines.entries())
    expect({ line, value: (ours as unknown[])[index] }).toEqual({ line, value: list[index] });
}

describe('the library matches Node', () => {
  it('for numbers', () =>
    expectSame([
      'return [0, -0, 1234567.891, -1e21, NaN, Infinity, 5e-7].map((n) => n.toLocaleString("de-DE"))',
      'return [1234.5, 12345678901234567890n].map(new Intl.NumberFormat("en-IN").format)',
      'return new Intl.NumberFormat("ja-JP", { style: "currency", currency: "JPY" }).format(1234)',
      'return Intl.NumberFormat("en", { style: "unit", unit: "liter", unitDisplay: "long" }).format(16)',
      'return new Intl.NumberFormat("fr", { notation: "compact" }).formatToParts(12345)',
      'return new Intl.NumberFormat("en-US").format("12345678901234567890.12345678901234567890")',
      'return new Intl.NumberFormat("en-US").formatRange(3, 5)',
      'return new Intl.NumberFormat("en-US", { style: "percent" }).resolvedOptions()',
      'return new Intl.NumberFormat("en-US", { style: "nonsense" })',
      'return new Intl.NumberFormat("not a locale")',
      'return new Intl.NumberFormat(null)',
      'return [1, [2000.5, null], undefined].toLocaleString("de-DE")',
      'return new Float64Array([1.5, 2500]).toLocaleString("de-DE", { minimumFractionDigits: 2 })',
      'return (10n ** 20n).toLocaleString("en-US")',
      'return ["one", "two"].map((_, n) => new Intl.PluralRules("en", { type: "ordinal" }).select(n + 1))',
    ]));

  it('for dates', () =>
    expectSame([
      'return new Date(0).toLocaleString("en-US", { timeZone: "Asia/Tokyo" })',
      'return new Date(1e12).toLocaleDateString("de-DE", { dateStyle: "full", timeZone: "Europe/Berlin" })',
      'return new Date(1e12).toLocaleTimeString("en-GB", { timeZone: "America/New_York" })',
      'return new Date(1e12).toLocaleDateString("en-GB", { timeZone: "UTC", hour: "numeric" })',
      'return new Date(1e12).toLocaleDateString("en-GB", { timeStyle: "short" })',
      'return new Date(NaN).toLocaleString()',
      'return new Intl.DateTimeFormat("en").format(NaN)',
      'const f = new Intl.DateTimeFormat("ja-JP-u-ca-japanese", { dateStyle: "long", timeZone: "Asia/Tokyo" }); return f.format(new Date(1e12))',
      'return new Intl.DateTimeFormat("en-US", { timeZone: "UTC", weekday: "long" }).formatToParts(86400000)',
      'return new Intl.DateTimeFormat("en-US", { timeZone: "UTC" }).formatRange(0, 86400000 * 40)',
      'return new Intl.DateTimeFormat("en-US", { timeZone: "Nowhere/Land" })',
      'return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-1, "day")',
    ]));

  it('for texts', () =>
    expectSame([
      'return ["z", "ä", "a", "Z"].sort(new Intl.Collator("de").compare)',
      'return ["z", "ä", "a"].sort((a, b) => a.localeCompare(b, "sv"))',
      'return ["file10", "file9"].sort((a, b) => a.localeCompare(b, "en", { numeric: true }))',
      'return ["a".localeCompare("B", "en"), "a".localeCompare("á", "en", { sensitivity: "base" })]',
      'return ["i".toLocaleUpperCase("tr"), "İ".toLocaleLowerCase("tr"), "ß".toLocaleUpperCase("de")]',
      'return new Intl.ListFormat("en").format(["a", "b", "c"])',
      'return new Intl.DisplayNames("fr", { type: "region" }).of("DE")',
      'return [...new Intl.Segmenter("en", { granularity: "word" }).segment("Hello, wörld 👩‍👩‍👧")]',
      'return Intl.getCanonicalLocales(["EN-us", "zh-hans-cn"])',
      'return Intl.getCanonicalLocales("x")',
      'return Intl.NumberFormat.supportedLocalesOf(["de", "xx"])',
    ]));

  it('for bytes', () =>
    expectSame([
      'return [btoa("hé\\u0000\\xff"), atob(" aGk= "), atob("aGk"), btoa("")]',
      'return btoa("漢")',
      'return atob("a")',
      'return [...new TextEncoder().encode("aé漢😀\\ud800\\u0000")]',
      'const a = new Uint8Array(4); return [new TextEncoder().encodeInto("aé漢", a), [...a]]',
      'return new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff, 0, 0xe6, 0xbc]))',
      'return new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff]))',
      'return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))',
      'return [new TextDecoder("shift_jis").decode(new Uint8Array([0x82, 0xa0])), new TextDecoder("latin1").encoding]',
      'return new TextDecoder("no-such")',
      'return new TextDecoder().decode(new Uint16Array([0x6261]).buffer)',
    ]));

  it('for addresses', () =>
    expectSame([
      'const u = new URL("../b?x=1&y=a%20b#h", "https://us%20er:pa@EXAMPLE.com:443/a/c"); return [u, u.origin, u.host, u.port, u.username, u.password, u.pathname, u.search, u.hash, `${u}`]',
      'const u = new URL("https://x.test/?a=1"); u.searchParams.append("b", "ü &"); u.searchParams.set("a", "2"); u.hash = "z"; u.port = "8080"; u.pathname = "/ p"; return [u.href, u.searchParams.size]',
      'const u = new URL("https://x.test/?a=1"); const p = u.searchParams; u.search = "?c=3&c=4"; return [p.getAll("c"), p.toString(), p === u.searchParams]',
      'const u = new URL("https://x.test"); u.protocol = "http"; u.host = "y.test:1"; u.href = "ftp://z.test/"; return u',
      'const u = new URL("https://x.test"); u.href = "nonsense"; return u',
      'return [new URL("https://日本.example/ü"), new URL("http://[::1]:80/"), new URL("mailto:a@b")]',
      'return new URL("nonsense")',
      'return [URL.canParse("x:y"), URL.canParse("/a"), URL.canParse("/a", "http://b"), URL.parse("no"), URL.parse("http://a").href]',
      'return [...new URLSearchParams("?a=1&b=%C3%BC+x&a=2&&=")]',
      'return [new URLSearchParams({ a: 1, b: "ü &=" }).toString(), new URLSearchParams([["x", "y"], ["x", null]]).toString()]',
      'const p = new URLSearchParams("b=2&a=1&b=1"); p.sort(); p.delete("b", "2"); return [p.toString(), p.has("b"), p.has("a", "2"), p.get("none"), [...p.keys()], [...p.values()]]',
      'return new URLSearchParams([["one"]])',
      'const p = new URLSearchParams("a=1&b=2"); const seen = []; p.forEach((value, name) => seen.push(name + value)); return seen',
      'return new URLSearchParams(new URLSearchParams("a=1")).toString()',
    ]));

  it('for copies', () =>
    expectSame([
      'const a = { d: new Date(5), l: [1, , 3], m: new Map([[{ k: 1 }, new Set([2])]]), r: /x/gi, n: null, u: undefined }; const c = structuredClone(a); return [c.l, c.n, c.d.getTime(), 1 in c.l, [...c.m.keys()], [...[...c.m.values()][0]], String(c.r), c.d !== a.d, "u" in c]',
      'const a = { self: null, list: [] }; a.self = a; a.list.push(a); const c = structuredClone(a); return [c.self === c, c.list[0] === c, c === a]',
      'const a = new Uint16Array([1, 2, 3]).subarray(1); const c = structuredClone(a); c[0] = 9; return [[...c], [...a], c.constructor.name, c.byteOffset]',
      'const e = structuredClone(new RangeError("no", { cause: [1] })); return [e instanceof RangeError, e.message, e.cause, e.name]',
      'return structuredClone({ f() {} })',
      'return structuredClone(Symbol("x"))',
      'return structuredClone(new WeakMap())',
      'return [structuredClone(1n).toString(), structuredClone("x"), structuredClone(Object(false)).valueOf()]',
      'class A { x = 1; get y() { return 2; } } const c = structuredClone(new A()); return [c, c instanceof A]',
      'return structuredClone()',
      'return Object.getOwnPropertyNames(structuredClone(JSON.parse(\'{"__proto__":1}\')))',
    ]));

  it('for digests', () =>
    expectSame([
      ...['SHA-1', 'sha-256', 'SHA-384', 'SHA-512'].map(
        (name) =>
          `return [...new Uint8Array(await crypto.subtle.digest("${name}", new TextEncoder().encode("é")))]`,
      ),
      'return [...new Uint8Array(await crypto.subtle.digest({ name: "SHA-256" }, new ArrayBuffer(3)))]',
      'return crypto.subtle.digest("MD5", new Uint8Array())',
      'return crypto.subtle.digest("SHA-256", "text")',
      'return [crypto.randomUUID().length, crypto.randomUUID() === crypto.randomUUID()]',
      'const a = crypto.getRandomValues(new Uint32Array(64)); return [a.length, new Set(a).size > 60]',
      'return crypto.getRandomValues(new Float32Array(1))',
      'return crypto.getRandomValues(new Uint8Array(65537))',
    ]));
});

describe('the library', () => {
  it('uses English and UTC by default', async () => {
    const source = `const { locale, timeZone } = new Intl.DateTimeFormat().resolvedOptions();
      return [locale, timeZone, (1234.5).toLocaleString(), new Date(0).toLocaleTimeString()]`;
    expect(await code.resultOf(source)).toEqual(['en-US', 'UTC', '1,234.5', '12:00:00 AM']);
  });

  it('keeps every digit of a number', async () => {
    const input = parseJson('{"share":0.12345678901234567890,"id":9007199254740993}');
    const source = `const copy = structuredClone(input);
      return [copy, new Intl.NumberFormat("en-US", { maximumFractionDigits: 20 }).format(input.share), input.id.toLocaleString("en-US")]`;
    expect(stringifyJson(await code.resultOf(source, { input }))).toBe(
      '[{"share":0.12345678901234567890,"id":9007199254740993},"0.1234567890123456789","9,007,199,254,740,993"]',
    );
  });

  it.each([
    ['new Intl.Locale("en")', 'Intl.Locale is not available in here'],
    ['crypto.subtle.encrypt()', 'crypto.subtle.encrypt is not available in here'],
    ['new TextDecoder().decode(new Uint8Array(), { stream: true })', 'Decoding a stream is not available'],
    ['structuredClone(1, { transfer: [new ArrayBuffer(1)] })', 'Transferring is not available in here'],
    ['fetch("http://127.0.0.1")', "'fetch' is not defined"],
  ])('%s says that it is missing', async (source, message) => {
    expect((await code.failureOf(`return ${source}`)).message).toContain(message);
  });

  it('is subject to the limits of the run', async () => {
    const endless = 'for (;;) (1).toLocaleString("de")';
    expect((await code.failureOf(endless, { timeoutMs: 300 })).code).toBe('code_timeout');
    const large = 'return btoa("x".repeat(2 ** 24)).length';
    expect((await code.failureOf(large)).message).toContain('too large for this function');
  });

  it('gives the code no access to the host', async () => {
    const source = `const seen = [];
      for (const each of [Intl, URL, URLSearchParams, TextDecoder, crypto, crypto.subtle, structuredClone, atob])
        for (let at = each; at; at = Object.getPrototypeOf(at))
          for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
            if (typeof value === 'function' && (await value.constructor('return typeof process + typeof require')()) !== 'undefinedundefined') seen.push(name);
      return seen;`;
    expect(await code.resultOf(source)).toEqual([]);
  });
});
