/* Part of library.js: Intl and the locale-dependent methods of numbers, dates and strings. Everything is delegated to the host. */
(function languages({ ask, digitsOf, install, missing }) {
  const { defineProperty, defineProperties, getPrototypeOf } = Object;
  const dateValue = Reflect.get(Date.prototype, 'valueOf');

  function sent(value) {
    if (typeof value === 'bigint') return ['bigint', `${value}`];
    if (typeof value === 'number') return ['number', Object.is(value, -0) ? '-0' : `${value}`];
    if (value instanceof Date) return ['number', `${dateValue.call(value)}`];
    const digits = typeof value === 'object' && value !== null ? digitsOf(value) : undefined;
    return ['other', digits ?? value];
  }

  function localesOf(locales) {
    if (locales === undefined) return null;
    if (typeof locales !== 'string' && (typeof locales !== 'object' || locales === null)) {
      throw new TypeError('Incorrect locale information provided');
    }
    return typeof locales === 'string' ? locales : [...locales].map((each) => `${each}`);
  }

  function makeKind(kind, methods, needsNew) {
    function Formatter(locales, options) {
      if (new.target === undefined) {
        if (needsNew) throw new TypeError(`Constructor Intl.${kind} requires 'new'`);
        return new Formatter(locales, options);
      }
      const given = [kind, localesOf(locales), options ?? null];
      const call = (method, args) => ask('intl', ...given, method, args.map(sent));
      // Wrong options throw here, not when the first value is formatted.
      const resolved = call('resolvedOptions', []);
      defineProperty(this, CALL, { value: call });
      defineProperty(this, RESOLVED, { value: resolved });
    }
    const members = { resolvedOptions: { value: resolvedOptions, writable: true, configurable: true } };
    for (const method of methods) members[method] = methodOf(kind, method);
    defineProperties(Formatter.prototype, members);
    defineProperty(Formatter.prototype, Symbol.toStringTag, { value: `Intl.${kind}`, configurable: true });
    defineProperty(Formatter, 'name', { value: kind, configurable: true });
    install(Formatter, {
      supportedLocalesOf: (locales, options) =>
        ask('supported', kind, [localesOf(locales) ?? []].flat(), options ?? {}),
    });
    return Formatter;
  }

  const CALL = Symbol('call');
  const RESOLVED = Symbol('resolved');

  function resolvedOptions() {
    return { ...this[RESOLVED] };
  }

  /** Methods of one or two values work without `this`, as people pass them to `map` and `sort`. */
  function methodOf(kind, method) {
    const isBound =
      method === 'compare' || (method === 'format' && (kind === 'NumberFormat' || kind === 'DateTimeFormat'));
    const isDate = kind === 'DateTimeFormat';
    const count = { Collator: 2, RelativeTimeFormat: 2 }[kind] ?? (method.includes('Range') ? 2 : 1);
    function run(self, args) {
      const given = Array.from({ length: count }, (_, at) => args[at]);
      if (kind === 'Collator')
        return self[CALL](
          method,
          given.map((each) => `${each}`),
        );
      if (isDate) return self[CALL](method, given.map(momentOf));
      if (kind === 'NumberFormat' || kind === 'PluralRules') return self[CALL](method, given.map(numeric));
      if (kind === 'ListFormat')
        return self[CALL](
          method,
          given.map((list) => [...list]),
        );
      if (kind === 'Segmenter') return segmentsOf(`${given[0]}`, self[CALL](method, [`${given[0]}`]));
      return self[CALL](method, given);
    }
    if (!isBound) {
      return {
        value(...args) {
          return run(this, args);
        },
        writable: true,
        configurable: true,
      };
    }
    return {
      get() {
        return (...args) => run(this, args);
      },
      configurable: true,
    };
  }

  /** Defaults to the current time: the host's clock is the same as ours, but read here. */
  function momentOf(value) {
    return value === undefined ? Date.now() : value instanceof Date ? value : Number(value);
  }

  /** Numbers, integers of any size, and strings of either keep their digits; anything else is converted. */
  function numeric(value) {
    if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'number') return value;
    return typeof value === 'object' && value !== null && digitsOf(value) !== undefined
      ? value
      : Number(value);
  }

  function segmentsOf(input, parts) {
    const all = parts.map((each) => ({ ...each, input }));
    return {
      containing(index = 0) {
        return all.findLast((each) => each.index <= index && index < input.length);
      },
      *[Symbol.iterator]() {
        yield* all;
      },
    };
  }

  const range = ['format', 'formatToParts', 'formatRange', 'formatRangeToParts'];
  const intl = {};
  install(intl, {
    Collator: makeKind('Collator', ['compare'], false),
    DateTimeFormat: makeKind('DateTimeFormat', range, false),
    DisplayNames: makeKind('DisplayNames', ['of'], true),
    DurationFormat: makeKind('DurationFormat', ['format', 'formatToParts'], true),
    ListFormat: makeKind('ListFormat', ['format', 'formatToParts'], true),
    Locale: missing('Intl.Locale'),
    NumberFormat: makeKind('NumberFormat', range, false),
    PluralRules: makeKind('PluralRules', ['select', 'selectRange'], true),
    RelativeTimeFormat: makeKind('RelativeTimeFormat', ['format', 'formatToParts'], true),
    Segmenter: makeKind('Segmenter', ['segment'], true),
    getCanonicalLocales: (locales) => ask('canonical', [localesOf(locales) ?? []].flat()),
    supportedValuesOf: (key) => ask('supportedValues', `${key}`),
  });
  defineProperty(intl, Symbol.toStringTag, { value: 'Intl', configurable: true });

  const { NumberFormat, DateTimeFormat, Collator } = intl;
  const numberValue = Reflect.get(Number.prototype, 'valueOf');
  const bigintValue = Reflect.get(BigInt.prototype, 'valueOf');

  function localeDate(required, defaults) {
    return function toLocale(locales, options) {
      const moment = dateValue.call(this);
      if (Number.isNaN(moment)) return 'Invalid Date';
      return new DateTimeFormat(locales, dateOptions(options, required, defaults)).format(moment);
    };
  }

  const DAY = ['weekday', 'year', 'month', 'day'];
  const TIME = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'];

  /** Defaults when no component of the kind is requested (ECMA-402, ToDateTimeOptions). */
  function dateOptions(options, required, defaults) {
    const given = options === undefined ? {} : { ...Object(options) };
    const { dateStyle, timeStyle } = given;
    if (required === 'date' && timeStyle !== undefined) throw new TypeError('Invalid option : timeStyle');
    if (required === 'time' && dateStyle !== undefined) throw new TypeError('Invalid option : dateStyle');
    const wanted = required === 'date' ? DAY : required === 'time' ? TIME : [...DAY, ...TIME];
    if (
      dateStyle !== undefined ||
      timeStyle !== undefined ||
      wanted.some((name) => given[name] !== undefined)
    ) {
      return given;
    }
    const day = { year: 'numeric', month: 'numeric', day: 'numeric' };
    const time = { hour: 'numeric', minute: 'numeric', second: 'numeric' };
    return { ...given, ...(defaults === 'time' ? {} : day), ...(defaults === 'date' ? {} : time) };
  }

  function localeList(locales, options) {
    const items = Array.from(this, (item) =>
      item === undefined || item === null ? '' : `${item.toLocaleString(locales, options)}`,
    );
    return items.join(',');
  }

  install(Number.prototype, {
    toLocaleString(locales, options) {
      return new NumberFormat(locales, options).format(numberValue.call(this));
    },
  });
  install(BigInt.prototype, {
    toLocaleString(locales, options) {
      return new NumberFormat(locales, options).format(bigintValue.call(this));
    },
  });
  install(Date.prototype, {
    toLocaleString: localeDate('any', 'all'),
    toLocaleDateString: localeDate('date', 'date'),
    toLocaleTimeString: localeDate('time', 'time'),
  });
  install(Array.prototype, { toLocaleString: localeList });
  install(getPrototypeOf(Uint8Array.prototype), { toLocaleString: localeList });
  install(String.prototype, {
    localeCompare(other, locales, options) {
      return new Collator(locales, options).compare(`${this}`, `${other}`);
    },
    toLocaleUpperCase(locales) {
      return ask('upper', `${this}`, localesOf(locales) ?? undefined);
    },
    toLocaleLowerCase(locales) {
      return ask('lower', `${this}`, localesOf(locales) ?? undefined);
    },
  });

  return intl;
});
