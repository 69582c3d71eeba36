/** What the code uses: values behave as in Jinja, but texts show lists, objects and nothing as templates here do. */
export const RUNTIME = `const show = (value) => value == null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
const isTrue = (value) => Array.isArray(value) ? value.length > 0 : value !== null && typeof value === "object" ? Object.keys(value).length > 0 : Boolean(value);
const or = (left, right) => isTrue(left) ? left : right();
const and = (left, right) => isTrue(left) ? right() : left;
const get = (value, name) => {
  if (value == null) return undefined;
  const at = typeof name === "number" && name < 0 ? value.length + name : name;
  return typeof value === "string" ? value[at] : Object.hasOwn(value, at) ? value[at] : undefined;
};
const part = (value, from, to) => value == null ? value : value.slice(from, to);
const same = (left, right) => left === right || (left == null && right == null) || (typeof left === "object" && JSON.stringify(left) === JSON.stringify(right));
const isIn = (value, list) => Array.isArray(list) ? list.some((each) => same(each, value)) : typeof list === "string" ? list.includes(show(value)) : list != null && Object.hasOwn(list, value);
const plus = (left, right) => Array.isArray(left) && Array.isArray(right) ? [...left, ...right] : left + right;
const range = (from, to, by = 1) => { const end = to === undefined ? from : to, start = to === undefined ? 0 : from; return Array.from({ length: Math.min(Math.max(Math.ceil((end - start) / by), 0), 100000) }, (_, at) => start + at * by); };
const listOf = (value) => value == null ? [] : Array.isArray(value) ? value : typeof value === "string" ? [...value] : typeof value === "object" ? Object.keys(value) : [];
const rounds = (scope, value, names, test) => {
  const named = (item) => names.length === 1 ? { [names[0]]: item } : Object.fromEntries(names.map((name, at) => [name, item?.[at]]));
  const kept = listOf(value).filter((item) => test === null || test({ ...scope, ...named(item) }));
  return kept.map((item, at) => ({ ...scope, ...named(item), loop: { index: at + 1, index0: at, first: at === 0, last: at === kept.length - 1, length: kept.length, revindex: kept.length - at } }));
};
const tests = {
  defined: (v) => v !== undefined, undefined: (v) => v === undefined, none: (v) => v == null, string: (v) => typeof v === "string", number: (v) => typeof v === "number",
  mapping: (v) => v !== null && typeof v === "object" && !Array.isArray(v), iterable: (v) => v !== null && (typeof v === "object" || typeof v === "string"),
  sequence: (v) => Array.isArray(v) || typeof v === "string", boolean: (v) => typeof v === "boolean", odd: (v) => v % 2 === 1, even: (v) => v % 2 === 0,
};
const titled = (v) => show(v).toLowerCase().replace(/(^|[^\\p{L}\\p{N}'])(\\p{L})/gu, (_, before, sign) => before + sign.toUpperCase());
const methods = {
  get: (v, name, other = null) => get(v, name) ?? other, items: (v) => Object.entries(v ?? {}), keys: (v) => Object.keys(v ?? {}), values: (v) => Object.values(v ?? {}),
  split: (v, by) => by === undefined ? show(v).split(/\\s+/).filter(Boolean) : show(v).split(by), strip: (v) => show(v).trim(), lstrip: (v) => show(v).trimStart(), rstrip: (v) => show(v).trimEnd(),
  upper: (v) => show(v).toUpperCase(), lower: (v) => show(v).toLowerCase(), title: titled, replace: (v, from, to) => show(v).replaceAll(from, () => to),
  startswith: (v, with_) => show(v).startsWith(with_), endswith: (v, with_) => show(v).endsWith(with_), join: (v, list) => listOf(list).map(show).join(v), append: (v, item) => { v.push(item); return ""; },
};
const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : show(a) < show(b) ? -1 : show(a) > show(b) ? 1 : 0;
const filters = {
  default: (v, other = "", also = false) => v === undefined || (also && !isTrue(v)) ? other : v, upper: (v) => show(v).toUpperCase(), lower: (v) => show(v).toLowerCase(), trim: (v) => show(v).trim(),
  length: (v) => typeof v === "string" ? [...v].length : listOf(v).length, first: (v) => listOf(v)[0], last: (v) => listOf(v).at(-1), join: (v, by = "", name) => listOf(v).map((each) => show(name === undefined ? each : get(each, name))).join(by),
  replace: (v, from, to) => show(v).replaceAll(from, () => to), tojson: (v) => JSON.stringify(v ?? null), string: show, int: (v, other = 0) => { const n = Math.trunc(Number(v)); return Number.isFinite(n) && v !== "" && v != null ? n : other; },
  float: (v, other = 0) => { const n = Number(v); return Number.isFinite(n) && v !== "" && v != null ? n : other; }, round: (v, digits = 0) => Math.round(v * 10 ** digits) / 10 ** digits, abs: Math.abs,
  sum: (v, name) => listOf(v).reduce((all, each) => all + (name === undefined ? each : get(each, name)), 0), min: (v) => listOf(v).toSorted(order)[0], max: (v) => listOf(v).toSorted(order).at(-1), list: listOf,
  unique: (v) => listOf(v).filter((each, at, all) => all.findIndex((other) => same(other, each)) === at), sort: (v) => listOf(v).toSorted(order), reverse: (v) => typeof v === "string" ? [...v].reverse().join("") : listOf(v).toReversed(),
  title: titled, capitalize: (v) => show(v).charAt(0).toUpperCase() + show(v).slice(1).toLowerCase(), safe: (v) => v, escape: (v) => show(v).replace(/[&<>"']/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign] ?? "&#" + sign.charCodeAt(0) + ";"),
  urlencode: (v) => encodeURIComponent(show(v)), items: (v) => Object.entries(v ?? {}), map: (v, name) => listOf(v).map((each) => Object.hasOwn(filters, name) ? filters[name](each) : get(each, name)),
  selectattr: (v, name) => listOf(v).filter((each) => isTrue(get(each, name))), rejectattr: (v, name) => listOf(v).filter((each) => !isTrue(get(each, name))),
  truncate: (v, length = 255) => show(v).length <= length ? show(v) : show(v).slice(0, length - 3) + "...", indent: (v, width = 4) => show(v).split("\\n").map((line, at) => at === 0 || line === "" ? line : " ".repeat(width) + line).join("\\n"),
};
filters.d = filters.default; filters.count = filters.length; filters.e = filters.escape;`;
