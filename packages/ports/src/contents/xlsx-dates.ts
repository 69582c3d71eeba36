const DAY_S = 86_400;

/** Numbers of formats that are dates or times everywhere (ECMA-376, 18.8.30), those of East Asia included. */
const isKnownDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || id === 45 || id === 47 || (id >= 50 && id <= 58);

/** Says whether a format of numbers is one of dates or times. A count of hours that goes on beyond a day is a number. */
export function dateFormats(codes: ReadonlyMap<number, string>): (id: number) => boolean {
  return (id) => {
    const code = codes.get(id);
    if (code === undefined) return isKnownDate(id);
    if (/\[[hms]+\]/i.test(code)) return false;
    const bare = code.replace(/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g, '');
    return /[dmyhs]/i.test(bare) && !/general/i.test(bare);
  };
}

/** A day, a moment or a time of day in ISO 8601, without a zone, as a workbook has none. */
export function isoOf(serial: number, is1904: boolean): string | number {
  const seconds = Math.round(serial * DAY_S);
  const days = Math.floor(seconds / DAY_S);
  // The 29th of February 1900 exists in workbooks only.
  const first = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const moment = new Date(first + seconds * 1_000);
  if (serial < 0 || Number.isNaN(moment.getTime()) || moment.getUTCFullYear() > 9999) return serial;
  const text = moment.toISOString().slice(0, 19);
  if (days === 0 && seconds > 0) return text.slice(11);
  return seconds % DAY_S === 0 ? text.slice(0, 10) : text;
}
