const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([\s\S]*?)-----END \1-----/g;

/**
 * PEM with its line breaks: a field for one line drops them, and JSON files of keys have them as `\n`.
 * @returns the text as it was if it isn't PEM
 */
export function normalisePem(text: string): string {
  const unescaped = text.replaceAll('\\n', '\n');
  const blocks = [...unescaped.matchAll(BLOCK)].map(([, name = '', body = '']) => {
    // Headers of an encrypted key in the old format end with an empty line, which can't be restored.
    if (body.includes(':')) return `-----BEGIN ${name}-----${body}-----END ${name}-----`;
    const lines = body.replaceAll(/\s+/g, '').match(/.{1,64}/g) ?? [];
    return [`-----BEGIN ${name}-----`, ...lines, `-----END ${name}-----`].join('\n');
  });
  return blocks.length === 0 ? text : `${blocks.join('\n')}\n`;
}
