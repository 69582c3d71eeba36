/*
 * Evaluated inside the sandbox before the author's code, never by the service itself: the JavaScript APIs that programs
 * expect beyond the language, as far as they have no reach outside. Host functions that take and return JSON text do the
 * work (host-library.ts); what needs no help is done here.
 */
(function library(host, digitsOf, languages) {
  const { parse, stringify } = JSON;
  const { defineProperty, getOwnPropertyDescriptors, getPrototypeOf } = Object;
  const { fromCharCode } = String;
  const errors = { RangeError, SyntaxError, TypeError, URIError };
  const dateValue = Reflect.get(Date.prototype, 'valueOf');

  /** @returns the host function's result; throws what it throws */
  function ask(...call) {
    const { value, error } = parse(host(stringify(call)));
    if (error === undefined) return value;
    throw errorOf(error.name, error.message);
  }

  function errorOf(name, message) {
    const known = errors[name];
    if (known !== undefined) return new known(message);
    const error = new Error(message);
    defineProperty(error, 'name', { value: name, writable: true, configurable: true });
    return error;
  }

  function install(target, members) {
    for (const [name, value] of Object.entries(members)) {
      defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });
    }
  }

  /** A function that isn't available here and throws saying so. */
  function missing(name) {
    return function unavailable() {
      throw new TypeError(`${name} is not available in here`);
    };
  }

  // ---- bytes

  function textOfBytes(source) {
    const bytes = ArrayBuffer.isView(source)
      ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
      : source instanceof ArrayBuffer || source instanceof SharedArrayBuffer
        ? new Uint8Array(source)
        : null;
    if (bytes === null)
      throw new TypeError('The argument must be an ArrayBuffer, a typed array or a DataView');
    const pieces = [];
    for (let at = 0; at < bytes.length; at += 4096) {
      pieces.push(fromCharCode.apply(null, bytes.subarray(at, at + 4096)));
    }
    return pieces.join('');
  }

  function bytesOfText(text) {
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
    return bytes;
  }

  class TextEncoder {
    get encoding() {
      return 'utf-8';
    }
    encode(text = '') {
      return bytesOfText(ask('encode', `${text}`));
    }
    encodeInto(text, target) {
      const bytes = this.encode(text);
      let written = Math.min(bytes.length, target.length);
      // A character is written whole or not at all.
      while (written < bytes.length && written > 0 && (bytes[written] & 0xc0) === 0x80) written -= 1;
      target.set(bytes.subarray(0, written));
      return { read: new TextDecoder().decode(bytes.subarray(0, written)).length, written };
    }
  }

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    constructor(label = 'utf-8', options = {}) {
      this.#encoding = ask('encoding', `${label}`);
      this.#fatal = Boolean(options?.fatal);
      this.#ignoreBOM = Boolean(options?.ignoreBOM);
    }
    get encoding() {
      return this.#encoding;
    }
    get fatal() {
      return this.#fatal;
    }
    get ignoreBOM() {
      return this.#ignoreBOM;
    }
    decode(bytes = new Uint8Array(), options = {}) {
      if (options?.stream) throw new TypeError('Decoding a stream is not available in here');
      return ask('decode', this.#encoding, this.#fatal, this.#ignoreBOM, textOfBytes(bytes));
    }
  }

  // ---- URLs

  const NEW_LIST = Symbol('list');

  class URLSearchParams {
    #list;
    #changed;
    constructor(init = '', changed = null) {
      const isOwn = init !== null && typeof init === 'object' && init[NEW_LIST] !== undefined;
      this.#changed = isOwn ? changed : null;
      this.#list = isOwn ? init[NEW_LIST] : pairsOf(init);
    }
    get size() {
      return this.#list.length;
    }
    append(...given) {
      need(given.length, 2);
      const [name, value] = given;
      this.#list.push([text(name), text(value)]);
      this.#tell();
    }
    delete(...given) {
      need(given.length, 1);
      const [name, value] = given;
      const [wanted, only] = [text(name), value === undefined ? undefined : text(value)];
      this.#keep((pair) => pair[0] !== wanted || (only !== undefined && pair[1] !== only));
    }
    get(...given) {
      need(given.length, 1);
      const [name] = given;
      const wanted = text(name);
      return this.#list.find((pair) => pair[0] === wanted)?.[1] ?? null;
    }
    getAll(...given) {
      need(given.length, 1);
      const [name] = given;
      const wanted = text(name);
      return this.#list.filter((pair) => pair[0] === wanted).map((pair) => pair[1]);
    }
    has(...given) {
      need(given.length, 1);
      const [name, value] = given;
      const [wanted, only] = [text(name), value === undefined ? undefined : text(value)];
      return this.#list.some((pair) => pair[0] === wanted && (only === undefined || pair[1] === only));
    }
    set(...given) {
      need(given.length, 2);
      const [name, value] = given;
      const [wanted, wish] = [text(name), text(value)];
      const at = this.#list.findIndex((pair) => pair[0] === wanted);
      if (at < 0) this.#list.push([wanted, wish]);
      else this.#list[at] = [wanted, wish];
      this.#keep((pair, index) => pair[0] !== wanted || index === (at < 0 ? this.#list.length - 1 : at));
    }
    sort() {
      this.#list.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
      this.#tell();
    }
    forEach(call, self) {
      for (const [name, value] of this) call.call(self, value, name, this);
    }
    *entries() {
      for (let at = 0; at < this.#list.length; at += 1) yield [...this.#list[at]];
    }
    *keys() {
      for (const [name] of this.entries()) yield name;
    }
    *values() {
      for (const [, value] of this.entries()) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return ask('writeQuery', this.#list);
    }
    #keep(isKept) {
      const kept = this.#list.filter(isKept);
      this.#list.length = 0;
      this.#list.push(...kept);
      this.#tell();
    }
    #tell() {
      this.#changed?.(this.toString());
    }
  }

  function need(given, wanted) {
    if (given < wanted)
      throw new TypeError(
        `${wanted === 1 ? 'The "name" argument' : 'The "name" and "value" arguments'} must be specified`,
      );
  }

  /** URLs consist of whole characters. */
  function text(value) {
    return `${value}`.toWellFormed();
  }

  function pairsOf(init) {
    if (typeof init !== 'object' && typeof init !== 'function') return ask('readQuery', text(init));
    if (init === null) return ask('readQuery', 'null');
    if (typeof init[Symbol.iterator] !== 'function') {
      return Object.entries(init).map(([name, value]) => [text(name), text(value)]);
    }
    return [...init].map((pair) => {
      const items = [...pair];
      if (items.length !== 2) throw new TypeError('Each query pair must be an iterable [name, value] tuple');
      return items.map(text);
    });
  }

  const URL_PARTS = [
    'href',
    'protocol',
    'username',
    'password',
    'host',
    'hostname',
    'port',
    'pathname',
    'search',
    'hash',
  ];

  class URL {
    #parts;
    #list = [];
    #params = null;
    constructor(...given) {
      const [address, base] = given;
      if (given.length === 0) throw new TypeError('The "url" argument must be specified');
      this.#take(ask('url', text(address), base === undefined ? null : text(base)));
    }
    static {
      for (const name of URL_PARTS) {
        defineProperty(URL.prototype, name, {
          get() {
            return this.#parts[name];
          },
          set(value) {
            this.#take(ask('setUrl', this.#parts.href, name, text(value)));
          },
          enumerable: true,
          configurable: true,
        });
      }
    }
    static canParse(address, base) {
      return URL.parse(address, base) !== null;
    }
    static parse(address, base) {
      try {
        return new URL(address, base);
      } catch {
        return null;
      }
    }
    get searchParams() {
      this.#params ??= new URLSearchParams({ [NEW_LIST]: this.#list }, (query) => {
        this.#parts = ask('setUrl', this.#parts.href, 'search', query);
      });
      return this.#params;
    }
    get origin() {
      return this.#parts.origin;
    }
    toString() {
      return this.#parts.href;
    }
    toJSON() {
      return this.#parts.href;
    }
    #take(parts) {
      this.#parts = parts;
      this.#list.length = 0;
      this.#list.push(...ask('readQuery', parts.search));
    }
  }
  // ---- copies

  const BOXES = [Boolean, Number, String, BigInt];

  function structuredClone(...given) {
    const [value, options] = given;
    if (given.length === 0) throw new TypeError('The "value" argument must be specified');
    if (options?.transfer?.length > 0) throw new TypeError('Transferring is not available in here');
    return copy(value, new Map());
  }

  function copy(value, seen) {
    if (typeof value === 'function' || typeof value === 'symbol') throw notCloned(value);
    if (typeof value !== 'object' || value === null || digitsOf(value) !== undefined) return value;
    const known = seen.get(value);
    if (known !== undefined) return known;
    const made = shell(value, seen);
    seen.set(value, made);
    if (value instanceof Map)
      for (const [key, item] of [...value]) made.set(copy(key, seen), copy(item, seen));
    else if (value instanceof Set) for (const item of [...value]) made.add(copy(item, seen));
    else if (Array.isArray(value) || !isSpecial(made)) {
      for (const name of Object.keys(value)) {
        defineProperty(made, name, {
          value: copy(value[name], seen),
          writable: true,
          enumerable: true,
          configurable: true,
        });
      }
    }
    return made;
  }

  function isSpecial(made) {
    return getPrototypeOf(made) !== Object.prototype;
  }

  /** A new, empty value of the same kind. */
  function shell(value, seen) {
    if (Array.isArray(value)) {
      const list = [];
      // Holes in a list stay holes.
      list.length = value.length;
      return list;
    }
    if (value instanceof Date) return new Date(dateValue.call(value));
    if (value instanceof RegExp) return new RegExp(value.source, value.flags);
    if (value instanceof Map) return new Map();
    if (value instanceof Set) return new Set();
    if (value instanceof ArrayBuffer) return value.slice(0);
    if (value instanceof DataView)
      return new DataView(copy(value.buffer, seen), value.byteOffset, value.byteLength);
    if (ArrayBuffer.isView(value)) {
      const kind = globalThis[value[Symbol.toStringTag]];
      return new kind(copy(value.buffer, seen), value.byteOffset, value.length);
    }
    if (value instanceof Error) return copyOfError(value, seen);
    for (const box of BOXES) if (value instanceof box) return Object(value.valueOf());
    if (isUnclonable(value)) throw notCloned(value);
    return {};
  }

  function copyOfError(value, seen) {
    const kinds = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];
    const kind = kinds.find(({ name }) => name === value.name) ?? Error;
    const { message, stack, cause } = getOwnPropertyDescriptors(value);
    const real = new kind(message === undefined ? undefined : `${message.value}`);
    if (stack !== undefined) install(real, { stack: stack.value });
    if (cause !== undefined) install(real, { cause: copy(cause.value, seen) });
    return real;
  }

  function isUnclonable(value) {
    return [WeakMap, WeakSet, WeakRef, Promise, FinalizationRegistry, URL, URLSearchParams].some(
      (kind) => value instanceof kind,
    );
  }

  function notCloned(value) {
    const shown = typeof value === 'object' ? `#<${value.constructor?.name ?? 'Object'}>` : String(value);
    return errorOf('DataCloneError', `${shown} could not be cloned.`);
  }

  const intl = languages({ ask, digitsOf, install, missing });

  // ---- digests and randomness

  const INTEGERS = [
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    BigInt64Array,
    BigUint64Array,
  ];
  const MAX_RANDOM_BYTES = 65_536;
  const subtle = {};
  install(subtle, {
    async digest(algorithm, data) {
      const name = typeof algorithm === 'string' ? algorithm : `${algorithm?.name}`;
      return bytesOfText(ask('digest', name, textOfBytes(data))).buffer;
    },
  });
  for (const name of ['encrypt', 'decrypt', 'sign', 'verify', 'deriveBits', 'deriveKey', 'generateKey']) {
    install(subtle, { [name]: missing(`crypto.subtle.${name}`) });
  }
  for (const name of ['importKey', 'exportKey', 'wrapKey', 'unwrapKey']) {
    install(subtle, { [name]: missing(`crypto.subtle.${name}`) });
  }
  const crypto = {};
  install(crypto, {
    subtle,
    randomUUID: () => ask('uuid'),
    getRandomValues(array) {
      if (!INTEGERS.some((kind) => array instanceof kind)) {
        throw errorOf('TypeMismatchError', 'The data argument must be an integer-type TypedArray');
      }
      if (array.byteLength > MAX_RANDOM_BYTES) {
        throw errorOf('QuotaExceededError', `The requested length exceeds ${MAX_RANDOM_BYTES} bytes`);
      }
      const bytes = bytesOfText(ask('random', array.byteLength));
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes);
      return array;
    },
  });

  install(globalThis, {
    Intl: intl,
    TextDecoder,
    TextEncoder,
    URL,
    URLSearchParams,
    atob: (encoded) => ask('atob', `${encoded}`),
    btoa: (binary) => ask('btoa', `${binary}`),
    crypto,
    structuredClone,
  });
});
