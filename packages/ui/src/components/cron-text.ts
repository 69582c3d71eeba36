import cronstrue from 'cronstrue/i18n';

/** A cron expression in words; null if invalid. The library is large: import this lazily. */
export function cronText(cron: string, language: string): string | null {
  try {
    const text = cronstrue.toString(cron, { locale: language, use24HourTimeFormat: true });
    return language === 'ja' ? readable(text) : text;
  } catch {
    return null;
  }
}

/** The library uses English word order in Japanese: drops filler words and separates adjoining ones. */
function readable(words: string): string {
  return words
    .replace(/次において実施\s*/g, '')
    .replace(/ (?:に|で)のみ/g, '')
    .replace(/ (から|まで|と|の間)/g, '$1')
    .replace(/(から|と)\s+/g, '$1')
    .replace(/, */g, '、')
    .replace(/(?<=\d\d:\d\d|日目)(?=[月火水木金土日]曜日|\d+月)/g, '、');
}
