import type { LogFn, Logger, LoggerOptions } from 'pino';

/** Interval between counts of repeated errors; an error absent for this long counts as new. */
const SUMMARY_MS = 60_000;
/** Errors tracked separately; further ones are logged each time. */
const MAX_EPISODES = 500;
const WARN = 40;
const FATAL = 60;

interface Episode {
  readonly log: Logger;
  readonly level: number;
  readonly message: string;
  readonly about: string;
  again: number;
}

/**
 * Logs a repeated error once with its stack, and then once a minute how often it recurred: an outage must not fill the disk it may be
 * about. Lines without an error, and the process's final lines, are unaffected.
 */
export function createRepeats() {
  const episodes = new Map<string, Episode>();
  let timer: NodeJS.Timeout | null = null;

  function summarise(): void {
    for (const [key, episode] of episodes) {
      const { log, level, message, about, again } = episode;
      episode.again = 0;
      if (again === 0) episodes.delete(key);
      else
        logAt(log, level)(
          { again, error: about },
          `${message} (again ${again === 1 ? 'once' : `${again} times`})`,
        );
    }
    if (episodes.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }

  function isRepeated(log: Logger, level: number, fields: unknown, message: unknown): boolean {
    const error = errorOf(fields);
    if (error === null || level < WARN || level >= FATAL) return false;
    const key = `${level} ${typeof message === 'string' ? message : ''} ${keyOf(error)}`;
    const known = episodes.get(key);
    if (known !== undefined) {
      known.again += 1;
      return true;
    }
    if (episodes.size >= MAX_EPISODES) return false;
    episodes.set(key, {
      log,
      level,
      message: typeof message === 'string' ? message : error.message,
      about: error.message,
      again: 0,
    });
    timer ??= setInterval(summarise, SUMMARY_MS).unref();
    return false;
  }

  const hooks: NonNullable<LoggerOptions['hooks']> = {
    logMethod(args, method, level) {
      const [fields, message] = args as readonly unknown[];
      if (!isRepeated(this, level, fields, message)) method.apply(this, args);
    },
  };
  return {
    /** Logs the repetitions since the last call. */
    summarise,
    /** For the logger's options, shared with child loggers. */
    hooks,
  };
}

function logAt(log: Logger, level: number): LogFn {
  return level > WARN ? log.error.bind(log) : log.warn.bind(log);
}

interface ErrorLike {
  readonly message: string;
  readonly stack?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
}

/** The error of a line, either itself or as described for the log. */
function errorOf(fields: unknown): ErrorLike | null {
  if (isErrorLike(fields) && fields instanceof Error) return fields;
  if (typeof fields !== 'object' || fields === null || !('err' in fields)) return null;
  return isErrorLike(fields.err) ? fields.err : null;
}

function isErrorLike(value: unknown): value is ErrorLike {
  return (
    typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string'
  );
}

/** Its message without the varying numbers, and where it came from. */
function keyOf({ message, stack, code, cause }: ErrorLike): string {
  const place = typeof stack === 'string' ? (/^\s+at .*$/m.exec(stack)?.[0] ?? '') : '';
  const inner = isErrorLike(cause) ? keyOf(cause) : '';
  return `${String(code)} ${message.replace(/\d+/g, '#')} ${place} ${inner}`;
}
