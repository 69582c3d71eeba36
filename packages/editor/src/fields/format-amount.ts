/** Units of a duration in milliseconds, largest first. */
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/**
 * A readable form of milliseconds, seconds, bytes or mebibytes, chosen by the name's suffix (`timeout_ms`, `window_s`,
 * `max_bytes`); null if the plain number is as readable.
 */
export function formatAmount(name: string, value: number, language: string): string | null {
  if (!Number.isFinite(value) || value <= 0) return null;
  if (name.endsWith('_ms')) return formatLongDuration(value, language);
  if (name.endsWith('_s')) return formatLongDuration(value * 1_000, language);
  if (name.endsWith('_bytes')) return formatBinaryBytes(value, language);
  return name.endsWith('_mb') ? inUnit(value, 'megabyte', language) : null;
}

/** The two largest units of a duration. */
export function formatLongDuration(ms: number, language: string): string {
  if (ms < 1_000) return inUnit(ms, 'millisecond', language);
  const parts: string[] = [];
  let rest = ms;
  for (const [unit, size] of UNITS) {
    const count = unit === 'second' ? Math.round(rest / 100) / 10 : Math.floor(rest / size);
    if (count > 0) parts.push(inUnit(count, unit, language));
    rest -= count * size;
  }
  return parts.slice(0, 2).join(' ');
}

function formatBinaryBytes(bytes: number, language: string): string {
  if (bytes < 1_024) return inUnit(bytes, 'byte', language);
  if (bytes < 1_048_576) return inUnit(bytes / 1_024, 'kilobyte', language);
  return inUnit(bytes / 1_048_576, 'megabyte', language);
}

function inUnit(value: number, unit: string, language: string): string {
  const format = new Intl.NumberFormat(language, {
    style: 'unit',
    unit,
    // English writes short bytes without a plural: 500 byte.
    unitDisplay: unit === 'byte' ? 'long' : 'short',
    maximumFractionDigits: 1,
  });
  return format.format(value);
}
