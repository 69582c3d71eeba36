import { Writable } from 'node:stream';
import pino from 'pino';
import type { LogLevel } from '../settings/variables.ts';
import { createRepeats } from './repeats.ts';

/** The service's log on standard error: human-readable lines on a terminal, else one JSON object per line. */
export function createLog(level: LogLevel) {
  // When debugging, every occurrence matters.
  const repeats = level === 'debug' || level === 'trace' ? null : createRepeats();
  const options = { level, base: null, ...(repeats === null ? {} : { hooks: repeats.hooks }) };
  /** Logs what has been counted instead of logged; call it before the process ends. */
  const flush = () => repeats?.summarise();
  if (process.stderr.isTTY) return { log: pino(options, humanLines(process.stderr)), flush };
  // Synchronous, so that lines logged just before the process ends aren't lost.
  const destination = pino.destination({ dest: 2, sync: true });
  // A log that can't be written, because the disk is full or the reader gone, must not end the service.
  destination.on('error', () => {});
  const lines = new TurnLines(destination);
  return {
    log: pino({ ...options, formatters: { level: (name) => ({ level: name }) } }, lines),
    flush() {
      flush();
      lines.flush();
    },
  };
}

/** Characters of one write. */
const MAX_HELD = 64 * 1024;
/** The level is the first member of a line. */
const MAY_WAIT = /^\{"level":"(?:info|debug|trace)"/;

/**
 * Lines of one turn of the event loop are written together: one write for each took longer than formatting it. Warnings and errors are
 * written at once, with what is held, as the process may be about to end.
 */
export class TurnLines {
  readonly #destination: { write(text: string): unknown };
  #held = '';
  #isDue = false;

  constructor(destination: { write(text: string): unknown }) {
    this.#destination = destination;
  }

  write(line: string): void {
    this.#held += line;
    if (!MAY_WAIT.test(line) || this.#held.length >= MAX_HELD) {
      this.flush();
    } else if (!this.#isDue) {
      this.#isDue = true;
      setImmediate(() => {
        this.#isDue = false;
        this.flush();
      });
    }
  }

  /** Writes what is held. */
  flush(): void {
    const held = this.#held;
    this.#held = '';
    if (held !== '') this.#destination.write(held);
  }
}

/** Formats pino's JSON lines as `09:30:00 INFO message key=value`, with a stack below its line. */
export function humanLines(output: Writable): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      output.write(`${String(chunk).trim().split('\n').map(formatLine).join('\n')}\n`);
      done();
    },
  });
}

function formatLine(line: string): string {
  const { time, level, msg, err, ...rest }: Record<string, unknown> = JSON.parse(line);
  const clock = new Date(Number(time)).toISOString().slice(11, 19);
  const name = (pino.levels.labels[Number(level)] ?? String(level)).toUpperCase();
  const fields = Object.entries(rest).map(([key, value]) => ` ${key}=${formatValue(value)}`);
  return `${clock} ${name} ${typeof msg === 'string' ? msg : ''}${fields.join('')}${formatError(err)}`;
}

function formatValue(value: unknown): string {
  return typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value);
}

function formatError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('stack' in error && typeof error.stack === 'string') return `\n${error.stack}`;
  return ` err=${JSON.stringify(error)}`;
}
