/** Whether text looks like a curl command, as manuals and browsers' developer tools write it. */
export function isCurl(text: string): boolean {
  return /^\s*(?:[$>]\s+)?curl(?:\.exe)?\s/.test(text);
}

/** Whether text is nothing but an http or https URL. */
export function isUrl(text: string): boolean {
  return /^\s*https?:\/\/[^\s"'<>]+\s*$/i.test(text) && text.length < 10_000;
}

/** Whether text is cells with tabs between them, as spreadsheets copy them: several rows, or several cells in one. */
export function isTable(text: string): boolean {
  return (
    text.length <= MAX_TABLE_LENGTH && text.includes('\t') && text.trim() !== '' && !/^\s*[[{]/.test(text)
  );
}

/** A form shows no more than this well. */
const MAX_TABLE_LENGTH = 1_000_000;
