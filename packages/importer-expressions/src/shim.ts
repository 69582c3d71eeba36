import { FILE_FACTS } from './file-facts.ts';
import { JMESPATH } from './jmespath.ts';
import { MODULES } from './modules.ts';

/**
 * What code and expressions of n8n find in Millrace's Code node: the items under the names n8n gives them. It runs in the sandbox of that
 * node, and only when the workflow runs.
 */
const ITEMS = `const wrap = (json) => ({ json: typeof json === 'string' ? { data: json } : json ?? {}, binary: {} });
const listOf = (value) => Array.isArray(value) ? value.map(wrap) : value == null ? [] : [wrap(value)];
const access = ({ all, item, index }) => {
  const list = listOf(all);
  const current = item === undefined ? list[index ?? 0] ?? list[0] : wrap(item);
  return {
    item: current, json: current?.json, pairedItem: () => current, itemMatching: (at) => list[at],
    all: () => list, first: () => list[0], last: () => list.at(-1), isExecuted: list.length > 0, params: {}, context: {},
  };
};
const items = listOf(input.items);
const item = wrap(input.json);
const $input = access({ all: input.items, item: input.json });
const $json = item.json;
const $ = (name) => {
  if (!Object.hasOwn(input.nodes ?? {}, name)) throw new Error('There is no node "' + name + '" before this one');
  return access(input.nodes[name]);
};
const $node = new Proxy({}, { get: (_target, name) => $(name) });
const $items = (name) => name === undefined ? items : $(name).all();
const $itemIndex = input.index ?? 0, $runIndex = input.run ?? 0, $position = $itemIndex;
const $execution = { id: String(input.execution ?? ''), mode: 'production', resumeUrl: '' };
const $workflow = input.workflow ?? {}, $vars = input.vars ?? {}, $env = input.vars ?? {}, $prevNode = { name: '' };
const $ifEmpty = (value, other) => value === undefined || value === null || value === '' ? other : value;
const $if = (test, yes, no) => test ? yes : no;
const $min = Math.min, $max = Math.max;`;

const EXTENSIONS = `const extend = (type, functions) => {
  for (const [name, value] of Object.entries(functions))
    if (!(name in type.prototype)) Object.defineProperty(type.prototype, name, { value, configurable: true, writable: true });
};
const isBlank = (value) => value == null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
extend(Object, {
  toJsonString() { return JSON.stringify(this.valueOf()); }, isEmpty() { return isBlank(this.valueOf()); },
  isNotEmpty() { return !isBlank(this.valueOf()); }, hasField(name) { return Object.hasOwn(this, name); },
});
extend(Array, {
  first() { return this[0]; }, last() { return this.at(-1); }, sum() { return this.reduce((all, each) => all + Number(each), 0); },
  average() { return this.sum() / this.length; }, min() { return Math.min(...this); }, max() { return Math.max(...this); },
  unique() { return [...new Set(this)]; }, removeDuplicates() { return [...new Set(this)]; }, compact() { return this.filter((each) => !isBlank(each)); },
  pluck(...names) { return this.map((each) => names.length === 1 ? each?.[names[0]] : Object.fromEntries(names.map((name) => [name, each?.[name]]))); },
  chunk(size) { return Array.from({ length: Math.ceil(this.length / size) }, (_, at) => this.slice(at * size, at * size + size)); },
});
extend(String, {
  toNumber() { return Number(this); }, toInt() { return Number.parseInt(this, 10); }, toFloat() { return Number.parseFloat(this); },
  toTitleCase() { return this.replace(/\\b\\w/g, (letter) => letter.toUpperCase()); }, toBoolean() { return !['', '0', 'false', 'no'].includes(this.toLowerCase()); },
  toSentenceCase() { return this.charAt(0).toUpperCase() + this.slice(1).toLowerCase(); },
  removeTags() { return this.replace(/<[^>]*>/g, ''); }, urlEncode() { return encodeURIComponent(this); }, urlDecode() { return decodeURIComponent(this); },
  parseJson() { return JSON.parse(this); }, extractEmail() { return this.match(/[\\w.+-]+@[\\w-]+\\.[\\w.-]+/)?.[0]; },
  extractUrl() { return this.match(/https?:\\/\\/[^\\s"'<>]+/)?.[0]; }, base64Encode() { return btoa(this); }, base64Decode() { return atob(this); },
  isEmail() { return /^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$/.test(this); }, isNumeric() { return this.trim() !== '' && !Number.isNaN(Number(this)); },
});
extend(Number, { toInt() { return Math.trunc(this); }, round(digits = 0) { return Number(this.toFixed(digits)); }, isEven() { return this % 2 === 0; }, isOdd() { return this % 2 !== 0; } });`;

const DATES = `const UNITS = { milliseconds: 1, seconds: 1e3, minutes: 6e4, hours: 36e5, days: 864e5, weeks: 6048e5 };
const unitOf = (name) => { const long = String(name).toLowerCase(); return long.endsWith('s') ? long : long + 's'; };
const pad = (value, size = 2) => String(value).padStart(size, '0');
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
class DateTime {
  constructor(ms) { this.ts = ms; this.date = new Date(ms); }
  static now() { return new DateTime(Date.now()); }
  static utc(...parts) { return parts.length === 0 ? DateTime.now() : new DateTime(Date.UTC(parts[0], (parts[1] ?? 1) - 1, parts[2] ?? 1, parts[3] ?? 0, parts[4] ?? 0, parts[5] ?? 0)); }
  static local(...parts) { return DateTime.utc(...parts); }
  static fromISO(text) { return new DateTime(Date.parse(/T.*(Z|[+-]\\d\\d:?\\d\\d)$/.test(text) || !String(text).includes('T') ? text : text + 'Z')); }
  static fromMillis(ms) { return new DateTime(Number(ms)); }
  static fromSeconds(seconds) { return new DateTime(Number(seconds) * 1e3); }
  static fromJSDate(date) { return new DateTime(date.getTime()); }
  static fromFormat(text) { return new DateTime(Date.parse(text)); }
  get year() { return this.date.getUTCFullYear(); } get month() { return this.date.getUTCMonth() + 1; } get day() { return this.date.getUTCDate(); }
  get hour() { return this.date.getUTCHours(); } get minute() { return this.date.getUTCMinutes(); } get second() { return this.date.getUTCSeconds(); }
  get weekday() { return this.date.getUTCDay() || 7; } get isValid() { return !Number.isNaN(this.ts); }
  #add(sign, amount, unit) {
    const parts = typeof amount === 'object' ? amount : { [unit ?? 'milliseconds']: amount };
    const date = new Date(this.ts);
    let ms = 0;
    for (const [name, value] of Object.entries(parts)) {
      const kind = unitOf(name), count = sign * Number(value);
      if (kind === 'months' || kind === 'years' || kind === 'quarters') {
        const day = date.getUTCDate();
        date.setUTCDate(1);
        date.setUTCMonth(date.getUTCMonth() + count * (kind === 'years' ? 12 : kind === 'quarters' ? 3 : 1));
        date.setUTCDate(Math.min(day, new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()));
      } else ms += count * (UNITS[kind] ?? 0);
    }
    return new DateTime(date.getTime() + ms);
  }
  plus(amount, unit) { return this.#add(1, amount, unit); }
  minus(amount, unit) { return this.#add(-1, amount, unit); }
  startOf(unit) {
    const kind = unitOf(unit), date = new Date(this.ts);
    if (kind === 'years') date.setUTCMonth(0, 1); else if (kind === 'months') date.setUTCDate(1);
    else if (kind === 'weeks') date.setUTCDate(date.getUTCDate() - this.weekday + 1);
    if (kind === 'hours') date.setUTCMinutes(0, 0, 0); else if (kind === 'minutes') date.setUTCSeconds(0, 0); else date.setUTCHours(0, 0, 0, 0);
    return new DateTime(date.getTime());
  }
  endOf(unit) { return this.startOf(unit).plus(1, unit).minus(1); }
  set(parts) { return DateTime.utc(parts.year ?? this.year, parts.month ?? this.month, parts.day ?? this.day, parts.hour ?? this.hour, parts.minute ?? this.minute, parts.second ?? this.second); }
  diff(other, unit) { const kind = unitOf(unit ?? 'milliseconds'), value = (this.ts - other.ts) / (UNITS[kind] ?? 1); return { [kind]: value, as: (name) => (this.ts - other.ts) / UNITS[unitOf(name)], toObject: () => ({ [kind]: value }) }; }
  diffTo(other, unit = 'days') { return (new DateTime(new Date(other?.ts ?? other).getTime()).ts - this.ts) / UNITS[unitOf(unit)]; }
  isBetween(from, to) { return this.ts > +from && this.ts < +to; }
  setZone() { return this; } setLocale() { return this; } toUTC() { return this; } toLocal() { return this; } toDateTime() { return this; }
  toISO() { return this.date.toISOString(); } toISODate() { return this.toISO().slice(0, 10); } toISOTime() { return this.toISO().slice(11); }
  toMillis() { return this.ts; } toSeconds() { return this.ts / 1e3; } toUnixInteger() { return Math.floor(this.ts / 1e3); } toJSDate() { return this.date; }
  valueOf() { return this.ts; } toString() { return this.toISO(); } toJSON() { return this.toISO(); } toSQL() { return this.toISO().replace('T', ' '); }
  toLocaleString() { return this.toFormat('d MMMM yyyy, HH:mm'); }
  format(pattern) { return this.toFormat(pattern); }
  toFormat(pattern) {
    const { year, month, day, hour, minute, second } = this;
    const values = { yyyy: year, yy: pad(year % 100), MMMM: MONTHS[month - 1], LLLL: MONTHS[month - 1], MMM: MONTHS[month - 1].slice(0, 3), LLL: MONTHS[month - 1].slice(0, 3),
      MM: pad(month), LL: pad(month), M: month, L: month, dd: pad(day), d: day, DD: pad(day), YYYY: year, cccc: DAYS[this.weekday % 7], EEEE: DAYS[this.weekday % 7], EEE: DAYS[this.weekday % 7].slice(0, 3), ccc: DAYS[this.weekday % 7].slice(0, 3),
      HH: pad(hour), H: hour, hh: pad(hour % 12 || 12), h: hour % 12 || 12, mm: pad(minute), m: minute, ss: pad(second), s: second, SSS: pad(this.date.getUTCMilliseconds(), 3), a: hour < 12 ? 'AM' : 'PM', ZZ: '+00:00', Z: '+0', x: this.ts, X: Math.floor(this.ts / 1e3) };
    return pattern.replace(/'([^']*)'|([A-Za-z])\\2*/g, (found, quoted) => quoted ?? values[found] ?? found);
  }
}
const $now = DateTime.now(), $today = $now.startOf('day'), luxon = { DateTime };
for (const type of [String, Number])
  Object.defineProperty(type.prototype, 'toDateTime', { value() { return typeof this.valueOf() === 'number' ? DateTime.fromMillis(this) : DateTime.fromISO(String(this)); } });
extend(Date, { toDateTime() { return new DateTime(this.getTime()); } });`;

const BUFFER = `const Buffer = { from(value, encoding = 'utf8') {
  const bytes = typeof value !== 'string' ? Uint8Array.from(value) : encoding === 'hex' ? Uint8Array.from(value.match(/../g) ?? [], (pair) => parseInt(pair, 16))
    : /^base64/.test(encoding) ? Uint8Array.from(atob(value.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0)) : new TextEncoder().encode(value);
  return Object.assign(bytes, { toString(form = 'utf8') {
    if (form === 'hex') return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    if (!/^base64/.test(form)) return new TextDecoder().decode(bytes);
    const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
    return form === 'base64url' ? text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') : text;
  }, equals(other) { return bytes.length === other.length && bytes.every((byte, at) => byte === other[at]); } });
}, concat: (all) => Buffer.from(all.flatMap((each) => [...each])), alloc: (size, fill = 0) => Buffer.from(new Uint8Array(size).fill(fill)),
  byteLength: (value, encoding) => Buffer.from(value, encoding).length, isBuffer: (value) => value instanceof Uint8Array };`;

/** Only what the text mentions is put before it. */
export function shimFor(text: string): string {
  const hasModules = /\bmodules\./.test(text);
  const hasDates =
    /\$now|\$today|DateTime|toDateTime|luxon|\.(?:plus|minus|startOf|endOf|toFormat|format)\(/.test(text);
  const hasExtensions =
    hasDates ||
    /\.(?:toJsonString|isEmpty|isNotEmpty|hasField|first|last|sum|average|unique|removeDuplicates|compact|pluck|chunk|to(?:Number|Int|Float|TitleCase|SentenceCase|Boolean)|removeTags|url(?:En|De)code|parseJson|extract(?:Email|Url)|base64(?:En|De)code|isEmail|isNumeric|round|isEven|isOdd|min|max)\(/.test(
      text,
    );
  const hasBuffer = hasModules || /\bBuffer\b/.test(text);
  return [
    ITEMS,
    ...(hasBuffer ? [BUFFER] : []),
    ...(hasExtensions ? [EXTENSIONS] : []),
    ...(hasDates ? [DATES] : []),
    ...(hasModules ? [MODULES] : []),
    ...(/\$jmes[pP]ath\b/.test(text) ? [JMESPATH] : []),
    ...(/\bfactsOf\(/.test(text) ? [FILE_FACTS] : []),
  ].join('\n');
}
