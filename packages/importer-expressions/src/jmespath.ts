/**
 * What `$jmespath` is in the sandbox: queries of JMESPath, which n8n's expressions and code may use. A query becomes one function; lists that
 * are projected leave out what isn't there.
 */
export const JMESPATH = String.raw`const $jmespath = (() => {
  const TOKEN = /\s+|([A-Za-z_]\w*)|("(?:[^"\\]|\\.)*")|('(?:[^'\\]|\\.)*')|(\x60(?:[^\x60\\]|\\.)*\x60)|(-?\d+)|(\|\||&&|==|!=|<=|>=|\[\?|\[\]|[.*[\]{}(),:@&|!<>])/y;
  const POWERS = { '|': 1, '||': 2, '&&': 3, '==': 5, '!=': 5, '<': 5, '<=': 5, '>': 5, '>=': 5, '[]': 9, '*': 20, '[?': 21, '.': 40, '!': 45, '{': 50, '[': 55, '(': 60 };
  const tokensOf = (text) => {
    const tokens = [];
    for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
      TOKEN.lastIndex = at;
      const found = TOKEN.exec(text);
      if (found === null) throw new Error('JMESPath: cannot read "' + text.slice(at, at + 20) + '"');
      const [, name, quoted, raw, json, number, sign] = found;
      if (name !== undefined) tokens.push({ kind: 'name', value: name });
      else if (quoted !== undefined) tokens.push({ kind: 'name', value: JSON.parse(quoted), isQuoted: true });
      else if (raw !== undefined) tokens.push({ kind: 'literal', value: raw.slice(1, -1).replace(/\\'/g, "'") });
      else if (json !== undefined) { const inside = json.slice(1, -1).replace(/\\\x60/g, '\x60'); let value = inside.trim(); try { value = JSON.parse(inside); } catch {} tokens.push({ kind: 'literal', value }); }
      else if (number !== undefined) tokens.push({ kind: 'number', value: Number(number) });
      else if (sign !== undefined) tokens.push({ kind: sign });
    }
    return [...tokens, { kind: 'end' }];
  };
  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const isTrue = (value) => !(value == null || value === false || value === '' || (typeof value === 'object' && Object.keys(value).length === 0));
  const same = (left, right) => left === right || (typeof left === 'object' && typeof right === 'object' && left !== null && right !== null && Array.isArray(left) === Array.isArray(right) && Object.keys(left).length === Object.keys(right).length && Object.keys(left).every((key) => Object.hasOwn(right, key) && same(left[key], right[key])));
  const COMPARE = { '==': same, '!=': (a, b) => !same(a, b), '<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b };
  const ordered = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const best = (list, by, sign) => list.reduce((found, each) => (found === null || ordered(by(each), by(found)) * sign > 0 ? each : found), null);
  const typeOf = (value) => (value == null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
  const FUNCTIONS = {
    abs: Math.abs, ceil: Math.ceil, floor: Math.floor, type: typeOf,
    avg: (list) => (list.length === 0 ? null : list.reduce((sum, each) => sum + each, 0) / list.length), sum: (list) => list.reduce((sum, each) => sum + each, 0),
    contains: (list, value) => (typeof list === 'string' ? list.includes(value) : list.some((each) => same(each, value))),
    ends_with: (text, end) => text.endsWith(end), starts_with: (text, start) => text.startsWith(start), join: (between, list) => list.join(between),
    keys: (value) => Object.keys(value), values: (value) => Object.values(value), length: (value) => (typeof value === 'string' ? [...value].length : Object.keys(value).length),
    map: (by, list) => list.map((each) => by(each) ?? null), merge: (...all) => Object.assign({}, ...all), not_null: (...all) => all.find((each) => each != null) ?? null,
    max: (list) => best(list, (each) => each, 1), min: (list) => best(list, (each) => each, -1), max_by: (list, by) => best(list, by, 1), min_by: (list, by) => best(list, by, -1),
    reverse: (value) => (typeof value === 'string' ? [...value].reverse().join('') : [...value].reverse()), sort: (list) => [...list].sort(ordered), sort_by: (list, by) => [...list].sort((a, b) => ordered(by(a), by(b))),
    to_array: (value) => (Array.isArray(value) ? value : [value]), to_string: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
    to_number: (value) => (typeof value === 'number' ? value : typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : null),
  };
  const self = (value) => value;
  const compile = (text) => {
    const tokens = tokensOf(text);
    let at = 0;
    const peek = (ahead = 0) => tokens[at + ahead]?.kind;
    const take = (kind) => { const token = tokens[at]; if (kind !== undefined && token.kind !== kind) throw new Error('JMESPath: expected ' + kind + ', found ' + token.kind + ' in "' + text + '"'); at += 1; return token; };
    const power = () => POWERS[peek()] ?? 0;
    const project = (list, then) => (value) => { const found = list(value); return Array.isArray(found) ? found.map(then).filter((each) => each != null) : null; };
    const valuesOf = (of) => (value) => { const found = of(value); return isObject(found) ? Object.values(found) : null; };
    const flat = (of) => (value) => { const found = of(value); return Array.isArray(found) ? found.flat() : null; };
    const rest = (least) => {
      if (power() < 10) return self;
      if (peek() === '[' || peek() === '[?') return expression(least);
      take('.');
      return afterDot(least);
    };
    const afterDot = (least) => {
      if (peek() === '[') { take(); return list(); }
      if (peek() === '{') { take(); return hash(); }
      return expression(least);
    };
    const list = () => { const parts = []; do parts.push(expression(0)); while (peek() === ',' && take()); take(']'); return (value) => (value == null ? null : parts.map((part) => part(value) ?? null)); };
    const hash = () => { const parts = []; do { const { value: name } = take('name'); take(':'); parts.push([name, expression(0)]); } while (peek() === ',' && take()); take('}'); return (value) => (value == null ? null : Object.fromEntries(parts.map(([name, part]) => [name, part(value) ?? null]))); };
    const filter = (of) => { const test = expression(0); take(']'); const then = peek() === '[]' ? self : rest(21); return project((value) => { const found = of(value); return Array.isArray(found) ? found.filter((each) => isTrue(test(each))) : null; }, then); };
    const bracket = (of) => {
      if (peek() === '*' && peek(1) === ']') { take(); take(); return project(of, rest(20)); }
      const parts = [undefined];
      while (peek() !== ']') { if (peek() === ':') { take(); parts.push(undefined); } else parts[parts.length - 1] = take('number').value; }
      take(']');
      if (parts.length === 1) return (value) => { const found = of(value); return Array.isArray(found) ? (found.at(parts[0]) ?? null) : null; };
      const [from, to, step = 1] = parts;
      return project((value) => { const found = of(value); return Array.isArray(found) ? sliced(found, from, to, step) : null; }, rest(20));
    };
    const first = () => {
      const token = take();
      switch (token.kind) {
        case 'name': {
          const { value: name } = token;
          if (peek() === '(' && !token.isQuoted) return called(name);
          return (value) => (isObject(value) && Object.hasOwn(value, name) ? (value[name] ?? null) : null);
        }
        case 'literal': return () => token.value;
        case '@': return self;
        case '*': return project(valuesOf(self), peek() === ']' ? self : rest(20));
        case '&': { const inner = expression(0); return () => inner; }
        case '!': { const inner = expression(45); return (value) => !isTrue(inner(value)); }
        case '(': { const inner = expression(0); take(')'); return inner; }
        case '{': return hash();
        case '[]': return project(flat(self), rest(9));
        case '[?': return filter(self);
        case '[': return peek() === 'number' || peek() === ':' || (peek() === '*' && peek(1) === ']') ? bracket(self) : list();
        default: throw new Error('JMESPath: unexpected ' + token.kind + ' in "' + text + '"');
      }
    };
    const called = (name) => {
      const run = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
      if (run === undefined) throw new Error('JMESPath: there is no function ' + name);
      take('(');
      const args = [];
      while (peek() !== ')') { args.push(expression(0)); if (peek() === ',') take(); }
      take(')');
      return (value) => run(...args.map((arg) => arg(value))) ?? null;
    };
    const next = (left) => {
      const { kind } = take();
      switch (kind) {
        case '.': {
          if (peek() === '*') { take(); return project(valuesOf(left), rest(20)); }
          const right = afterDot(40);
          return (value) => { const found = left(value); return found == null ? null : right(found); };
        }
        case '|': { const right = expression(1); return (value) => right(left(value)); }
        case '||': { const right = expression(2); return (value) => { const found = left(value); return isTrue(found) ? found : right(value); }; }
        case '&&': { const right = expression(3); return (value) => { const found = left(value); return isTrue(found) ? right(value) : found; }; }
        case '[]': return project(flat(left), rest(9));
        case '[?': return filter(left);
        case '[': return bracket(left);
        default: { const compare = COMPARE[kind]; if (compare === undefined) throw new Error('JMESPath: unexpected ' + kind + ' in "' + text + '"'); const right = expression(5); return (value) => compare(left(value), right(value)); }
      }
    };
    const expression = (least) => { let left = first(); while (least < power()) left = next(left); return left; };
    const made = expression(0);
    take('end');
    return made;
  };
  const sliced = (list, from, to, step) => {
    if (step === 0) throw new Error('JMESPath: the step of a slice is 0');
    const end = (given, otherwise) => (given === undefined ? otherwise : given < 0 ? Math.max(step < 0 ? -1 : 0, list.length + given) : Math.min(given, step < 0 ? list.length - 1 : list.length));
    const found = [];
    const [start, stop] = step > 0 ? [end(from, 0), end(to, list.length)] : [end(from, list.length - 1), end(to, -1)];
    for (let index = start; step > 0 ? index < stop : index > stop; index += step) found.push(list[index]);
    return found;
  };
  return (value, query) => compile(String(query))(value ?? null) ?? null;
})();
const $jmesPath = $jmespath;`;
