/** Days from 0001-01-01 to 2000-01-01. */
const DAYS_TO_2000 = 730_119;
const YEAR_2000 = Date.UTC(2000, 0, 1);
const DAY_MS = 86_400_000;
const DAY_S = 86_400;

/** @param days since 0001-01-01 */
export function dateText(days: number): string {
  return new Date(YEAR_2000 + (days - DAYS_TO_2000) * DAY_MS).toISOString().slice(0, 10);
}

/** @param ticks of 10^-scale seconds since midnight */
export function timeText(ticks: number, scale: number): string {
  const unit = 10 ** scale;
  const seconds = Math.floor(ticks / unit);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const fraction = String(ticks % unit)
    .padStart(scale, '0')
    .replace(/0+$/, '');
  const text = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return fraction === '' ? text : `${text}.${fraction}`;
}

/** The time stands before the day. */
export function daysAndTicks(data: Buffer): readonly [days: number, ticks: number] {
  const length = data.length - 3;
  return [data.readUIntLE(length, 3), data.readUIntLE(0, length)];
}

/** A moment, sent in UTC, as the clock of its own zone shows it. */
export function momentText(days: number, ticks: number, scale: number, minutes: number): string {
  const day = DAY_S * 10 ** scale;
  const local = ticks + minutes * 60 * 10 ** scale;
  const shift = Math.floor(local / day);
  const clock = `${dateText(days + shift)}T${timeText(local - shift * day, scale)}`;
  return minutes === 0 ? `${clock}Z` : `${clock}${zoneText(minutes)}`;
}

function zoneText(minutes: number): string {
  const size = Math.abs(minutes);
  const [hours, rest] = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, '0'));
  return `${minutes < 0 ? '-' : '+'}${hours}:${rest}`;
}
