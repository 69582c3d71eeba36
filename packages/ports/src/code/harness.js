/*
 * Evaluated inside the sandbox before the author's code, never by the service itself: sets up the input, the console and the
 * way to return the result. It shares a realm with that code, so it captures the built-ins it needs here, and nothing below
 * relies on a prototype: the author may have changed every one of them. Its own lists are linked records, because setting an
 * index consults Array.prototype.
 *
 * Its parameters are functions of the host, to which only strings and numbers are ever passed. Human-readable text is passed
 * as JSON, because a string leaving the engine ends at its first NUL.
 */
(function harness(putLog, putResult, loadLibrary) {
  const { apply, getPrototypeOf, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const { parse, stringify } = JSON;
  const { keys } = Object;
  const { isArray } = Array;
  const { isFinite: isFiniteNumber } = Number;
  const { slice } = String.prototype;
  const { get: getFromWeakMap, set: setInWeakMap } = WeakMap.prototype;
  const [toText, toNumber, BigInteger] = [String, Number, BigInt];
  const ObjectPrototype = Object.prototype;
  const ErrorPrototype = Error.prototype;
  const MAX_DEPTH = 1000;
  const CHUNK_LENGTH = 8192;

  const typedArrays = getPrototypeOf(Uint8Array.prototype);
  /** Values that JSON would silently turn into `{}`, and what to write instead. */
  const unsayable = link([
    [Map.prototype, 'a Map', 'Object.fromEntries(map)'],
    [Set.prototype, 'a Set', '[...set]'],
    [WeakMap.prototype, 'a WeakMap', null],
    [WeakSet.prototype, 'a WeakSet', null],
    [Promise.prototype, 'a promise', 'await'],
    [RegExp.prototype, 'a regular expression', 'String(pattern)'],
    [ErrorPrototype, 'an Error', 'error.message'],
    [ArrayBuffer.prototype, 'an ArrayBuffer', '[...new Uint8Array(buffer)]'],
    [DataView.prototype, 'a DataView', null],
    [typedArrays, 'a typed array', '[...array]'],
  ]);

  function link(list) {
    let linked = null;
    for (let at = list.length - 1; at >= 0; at -= 1) {
      linked = { prototype: list[at][0], name: list[at][1], hint: list[at][2], next: linked };
    }
    return linked;
  }

  // ---- numbers that don't fit in a double

  const digitsOf = new WeakMap();
  let hasExact = false;

  function exactDigits(value) {
    return hasExact ? apply(getFromWeakMap, digitsOf, [value]) : undefined;
  }

  /** A decimal as it was sent, digit by digit; acts as the nearest number. */
  class ExactNumber {
    valueOf() {
      return toNumber(exactDigits(this));
    }
    toString() {
      return exactDigits(this);
    }
    toJSON() {
      return toNumber(exactDigits(this));
    }
  }

  /** JSON.parse returns the nearest double; `exact` lists the numbers that need better. */
  function readInput(text, exact) {
    const root = { input: parse(text) };
    for (const [path, digits, isInteger] of parse(exact)) {
      let holder = root;
      let name = 'input';
      for (const step of path) {
        holder = holder[name];
        name = step;
      }
      const value = isInteger ? BigInteger(digits) : new ExactNumber();
      if (!isInteger) {
        apply(setInWeakMap, digitsOf, [value, digits]);
        hasExact = true;
      }
      defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true });
    }
    return root.input;
  }

  // ---- the result, as JSON text in pieces

  class Refusal {
    constructor(text) {
      this.text = text;
    }
  }

  function refuse(frame, what) {
    throw new Refusal(`${pathOf(frame)} ${what}`);
  }

  /** The writer's path in the result: `result.items[3].name`. */
  function pathOf(frame) {
    let path = '';
    let levels = 0;
    for (let each = frame; each !== null; each = each.parent) {
      levels += 1;
      if (levels > 20) return `A part of the result that ends in ${path}`;
      const { at } = each;
      path = each.names === null ? `[${at - 1}]${path}` : `.${each.names[at - 1]}${path}`;
    }
    return `result${path}`;
  }

  let pending = '';

  function put(text) {
    pending += text;
    if (pending.length < CHUNK_LENGTH) return;
    flush();
  }

  /** The length tells the host whether everything arrived: if there is no memory for a copy, nothing does. */
  function flush() {
    const piece = pending;
    pending = '';
    putResult(piece, piece.length);
  }

  /** Writes what the code returned; throws a Refusal, or whatever one of the author's getters throws. */
  function writeResult(value) {
    pending = '';
    let frame = open(value, null, '');
    while (frame !== null) frame = advance(frame);
    flush();
  }

  /**
   * Writes members or items of the innermost list or object up to the next container. Scalars are written inline: a call for
   * each would double the time.
   * @returns the frame to continue with
   */
  function advance(frame) {
    const { value: holder, names, count } = frame;
    let text = '';
    let separator = frame.hasMembers ? ',' : '';
    for (let at = frame.at; at < count; at += 1) {
      const name = names === null ? at : names[at];
      const value = holder[name];
      const type = typeof value;
      if (type === 'undefined' && names !== null) continue;
      text += names === null ? separator : `${separator}${stringify(name)}:`;
      separator = ',';
      if (type === 'string') text += stringify(value);
      else if (type === 'number' && isFiniteNumber(value)) text += value;
      else if (type === 'object' && value !== null) {
        frame.at = at + 1;
        frame.hasMembers = true;
        const inner = open(value, frame, text);
        if (inner !== frame) return inner;
        text = '';
      } else {
        frame.at = at + 1;
        text += scalar(value, frame);
      }
      if (text.length < CHUNK_LENGTH) continue;
      put(text);
      text = '';
    }
    put(text + (names === null ? ']' : '}'));
    return frame.parent;
  }

  /** Writes a scalar, or the start of a list or an object. */
  function open(given, parent, before) {
    let value = given;
    if (typeof value === 'object' && value !== null) {
      const digits = exactDigits(value);
      if (digits !== undefined) {
        put(before + digits);
        return parent;
      }
      const { toJSON } = value;
      if (typeof toJSON === 'function') value = apply(toJSON, value, ['']);
    }
    if (typeof value !== 'object' || value === null) {
      put(before + scalar(value, parent));
      return parent;
    }
    return container(value, parent, before);
  }

  function scalar(value, frame) {
    switch (typeof value) {
      case 'string':
        return stringify(value);
      case 'number':
        if (!isFiniteNumber(value)) refuse(frame, `is ${value}, which JSON cannot say`);
        return value === 0 ? '0' : `${value}`;
      case 'bigint':
        return `${value}`;
      case 'boolean':
        return value ? 'true' : 'false';
      case 'function':
        return refuse(frame, 'is a function, which JSON cannot say');
      case 'symbol':
        return refuse(frame, 'is a symbol, which JSON cannot say');
      default:
        return 'null';
    }
  }

  function container(value, parent, before) {
    const depth = parent === null ? 1 : parent.depth + 1;
    if (depth > MAX_DEPTH) refuseDeep(value, parent);
    if (isArray(value)) {
      put(`${before}[`);
      return { value, parent, depth, names: null, at: 0, count: value.length, hasMembers: false };
    }
    refuseUnsayable(value, parent);
    const names = keys(value);
    put(`${before}{`);
    return { value, parent, depth, names, at: 0, count: names.length, hasMembers: false };
  }

  function refuseDeep(value, parent) {
    for (let each = parent; each !== null; each = each.parent) {
      if (each.value === value) throw new Refusal('The result contains itself, which JSON cannot say');
    }
    throw new Refusal(`The result is nested deeper than ${MAX_DEPTH} levels`);
  }

  function refuseUnsayable(value, frame) {
    let prototype = getPrototypeOf(value);
    if (prototype === ObjectPrototype) return;
    for (let steps = 0; prototype !== null && steps < 100; steps += 1) {
      for (let kind = unsayable; kind !== null; kind = kind.next) {
        if (kind.prototype !== prototype) continue;
        const hint = kind.hint === null ? '' : `; use ${kind.hint}`;
        refuse(frame, `is ${kind.name}, which JSON cannot say${hint}`);
      }
      prototype = getPrototypeOf(prototype);
    }
  }

  // ---- the console

  const MAX_LINE = 8192;
  const MAX_ITEMS = 100;
  const MAX_LEVELS = 5;
  let isListening = true;

  function log(level, args, count) {
    if (!isListening) return;
    let line = '';
    for (let at = 0; at < count && line.length <= MAX_LINE; at += 1) {
      line += (at === 0 ? '' : ' ') + (typeof args[at] === 'string' ? args[at] : show(args[at], 1));
    }
    const text = line.length > MAX_LINE ? `${apply(slice, line, [0, MAX_LINE])}… (cut)` : line;
    isListening = putLog(level, stringify(text)) === true;
  }

  /** Formats a value for people. Never throws: what can't be inspected is shown as such. */
  function show(value, level) {
    try {
      if (typeof value === 'string') return stringify(value);
      if (typeof value === 'bigint') return `${value}n`;
      if (typeof value === 'function') return '[function]';
      if (typeof value !== 'object' || value === null) return toText(value);
      const digits = exactDigits(value);
      if (digits !== undefined) return digits;
      if (isError(value)) return `${value.name}: ${value.message}`;
      if (level > MAX_LEVELS) return isArray(value) ? '[…]' : '{…}';
      return isArray(value) ? showList(value, level) : showObject(value, level);
    } catch {
      return '[not readable]';
    }
  }

  function showList(list, level) {
    let text = '';
    for (let at = 0; at < list.length && text.length <= MAX_LINE; at += 1) {
      if (at === MAX_ITEMS) return `[${text}, … ${list.length - at} more]`;
      text += (at === 0 ? '' : ', ') + show(list[at], level + 1);
    }
    return `[${text}]`;
  }

  function showObject(object, level) {
    if (typeof object.toJSON === 'function') return show(apply(object.toJSON, object, ['']), level + 1);
    const names = keys(object);
    let text = '';
    for (let at = 0; at < names.length && text.length <= MAX_LINE; at += 1) {
      if (at === MAX_ITEMS) return `{${text}, … ${names.length - at} more}`;
      text += `${at === 0 ? '' : ', '}${names[at]}: ${show(object[names[at]], level + 1)}`;
    }
    return text === '' ? '{}' : `{ ${text} }`;
  }

  function isError(value) {
    let prototype = value;
    for (let steps = 0; prototype !== null && steps < 20; steps += 1) {
      if (prototype === ErrorPrototype) return true;
      prototype = getPrototypeOf(prototype);
    }
    return false;
  }

  function installConsole() {
    const methods = {};
    for (const level of ['debug', 'info', 'warn', 'error']) {
      methods[level] = function write() {
        // biome-ignore lint/complexity/noArguments: a rest parameter is a list whose iteration can be changed
        log(level, arguments, arguments.length);
      };
    }
    methods.log = methods.info;
    defineProperty(globalThis, 'console', { value: methods, writable: true, configurable: true });
  }

  // ---- errors thrown by the code

  /** @returns JSON text describing anything that was thrown */
  function describe(thrown) {
    return stringify(descriptionOf(thrown));
  }

  function descriptionOf(thrown) {
    if (thrown instanceof Refusal) return thrown.text;
    if (typeof thrown === 'object' && thrown !== null && isError(thrown)) {
      const message = textOrEmpty(thrown.message);
      const name = textOrEmpty(thrown.name);
      if (message === '') return name === '' ? 'Error' : name;
      return name === '' ? message : `${name}: ${message}`;
    }
    return `The code threw ${typeof thrown === 'string' ? stringify(thrown) : show(thrown, 1)}`;
  }

  function textOrEmpty(value) {
    return typeof value === 'string' ? apply(slice, value, [0, MAX_LINE]) : '';
  }

  /** The engine's stack trace as JSON; '' if the author made the value or changed it. */
  function stackOf(thrown) {
    if (typeof thrown !== 'object' || thrown === null) return '""';
    const property = getOwnPropertyDescriptor(thrown, 'stack');
    return property === undefined ? '""' : stringify(textOrEmpty(property.value));
  }

  // ---- the library, loaded on first use: most code doesn't need it

  const LIBRARY_GLOBALS = [
    'Intl',
    'TextDecoder',
    'TextEncoder',
    'URL',
    'URLSearchParams',
    'atob',
    'btoa',
    'crypto',
    'structuredClone',
  ];
  const LIBRARY_METHODS = [
    [Array.prototype, ['toLocaleString']],
    [typedArrays, ['toLocaleString']],
    [Number.prototype, ['toLocaleString']],
    [BigInt.prototype, ['toLocaleString']],
    [Date.prototype, ['toLocaleDateString', 'toLocaleString', 'toLocaleTimeString']],
    [String.prototype, ['localeCompare', 'toLocaleLowerCase', 'toLocaleUpperCase']],
  ];

  function installLibrary() {
    for (const name of LIBRARY_GLOBALS) {
      defineProperty(globalThis, name, {
        get() {
          loadLibrary();
          return globalThis[name];
        },
        set(value) {
          defineProperty(globalThis, name, { value, writable: true, configurable: true });
        },
        configurable: true,
      });
    }
    for (const [owner, names] of LIBRARY_METHODS) {
      for (const name of names) {
        const value = function first(...args) {
          loadLibrary();
          return apply(owner[name], this, args);
        };
        defineProperty(owner, name, { value, writable: true, configurable: true });
      }
    }
  }

  installConsole();
  installLibrary();
  return { readInput, writeResult, describe, stackOf, exactDigits };
});
