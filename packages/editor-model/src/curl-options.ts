import { parse } from 'shell-quote';

/** The words of the first curl command in a text, without its name; null if the text can't be read. */
export function wordsOf(text: string): string[] | null {
  // A line that goes on: with a backslash, or on Windows with a caret.
  const joined = text.trim().replace(/[\\^]\r?\n/g, ' ');
  try {
    const words: string[] = [];
    for (const word of parse(joined, (name) => `$${name}`)) {
      if (typeof word === 'string') words.push(word);
      else if ('pattern' in word) words.push(word.pattern);
      else if ('op' in word && words.length > 0) break;
    }
    return words.slice(words.findIndex((word) => /^curl(\.exe)?$/.test(word)) + 1);
  } catch {
    return null;
  }
}

/** Options with a value, by their long name. */
const SHORT_WITH_VALUE: { readonly [short: string]: string } = {
  ...{ A: 'user-agent', b: 'cookie', c: 'cookie-jar', C: 'continue-at', d: 'data', D: 'dump-header' },
  ...{ e: 'referer', E: 'cert', F: 'form', H: 'header', K: 'config', m: 'max-time', o: 'output' },
  ...{ P: 'ftp-port', Q: 'quote', r: 'range', t: 'telnet-option', T: 'upload-file', u: 'user' },
  ...{ U: 'proxy-user', w: 'write-out', x: 'proxy', X: 'request', y: 'speed-time', Y: 'speed-limit' },
  ...{ z: 'time-cond' },
};
const SHORT_FLAGS: { readonly [short: string]: string } = {
  ...{ G: 'get', I: 'head', k: 'insecure', L: 'location', s: 'silent', S: 'show-error', i: 'include' },
  ...{ v: 'verbose', f: 'fail', g: 'globoff', N: 'no-buffer', '#': 'progress-bar', O: 'remote-name' },
};
const LONG_WITH_VALUE = new Set([
  ...Object.values(SHORT_WITH_VALUE),
  ...['url', 'json', 'data-raw', 'data-ascii', 'data-binary', 'data-urlencode', 'oauth2-bearer'],
  ...['connect-timeout', 'retry', 'retry-delay', 'retry-max-time', 'cacert', 'capath', 'key', 'cert-type'],
  ...['key-type', 'pass', 'resolve', 'connect-to', 'interface', 'max-redirs', 'form-string', 'proto'],
  ...['aws-sigv4', 'unix-socket', 'url-query', 'limit-rate', 'ciphers', 'tls-max', 'expect100-timeout'],
]);
export interface CurlOption {
  readonly name: string;
  /** Null for a flag. */
  readonly value: string | null;
  readonly written: string;
}

/** Options and addresses, in order. */
export function readOptions(words: readonly string[]): readonly CurlOption[] {
  const options: CurlOption[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as string;
    const next = () => {
      at += 1;
      return words[at] ?? '';
    };
    if (word.startsWith('--')) {
      const [, name = '', own] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
      const value = LONG_WITH_VALUE.has(name) ? (own ?? next()) : null;
      options.push({ name, value, written: `--${name}` });
    } else if (/^-[^-]/.test(word)) {
      for (let place = 1; place < word.length; place += 1) {
        const letter = word[place] as string;
        const name = SHORT_WITH_VALUE[letter];
        const written = `-${letter}`;
        if (name === undefined) {
          options.push({ name: SHORT_FLAGS[letter] ?? letter, value: null, written });
        } else {
          const rest = word.slice(place + 1);
          options.push({ name, value: rest === '' ? next() : rest.replace(/^=/, ''), written });
          break;
        }
      }
    } else if (word !== '') options.push({ name: 'url', value: word, written: word });
  }
  return options;
}
