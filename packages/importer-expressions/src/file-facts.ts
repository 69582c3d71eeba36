const OWN = String.raw`\$input\.(?:item|first\(\))\??\.binary\b|\$binary\b`;
const OTHER = String.raw`\$\(\s*(?:'([^'\\]+)'|"([^"\\]+)")\s*\)\.(?:item|first\(\))\??\.binary\b`;
const FACTS = new RegExp(String.raw`(?:${OTHER}|${OWN})(\??\.\w+)?(\??\.\w+)?`, 'g');

/** Whether code reads what is in a file, not only its name, type and size. */
export function readsContent(code: string): boolean {
  return [...code.matchAll(FACTS)].some(([, , , , member]) => /\bdata$/.test(member ?? ''));
}

/**
 * Code that reads what is known of files from `input.files`: by node, those of the current item under an empty name. A file that isn't there
 * reads as undefined.
 * @param note is told each node whose files are read; null for the current item
 */
export function withFileFacts(code: string, note: (node: string | null) => void): string {
  return code.replaceAll(
    FACTS,
    (_found, single?: string, double?: string, first?: string, second?: string) => {
      const node = single ?? double ?? null;
      note(node);
      const members = [first, second].map((each) => (each ?? '').replace(/^\??\./, '?.')).join('');
      return `factsOf(${JSON.stringify(node ?? '')})${members}`;
    },
  );
}

/** What `factsOf` is in the sandbox. */
export const FILE_FACTS = `const factsOf = (node) => {
  const found = Object.entries(input.files?.[node] ?? {}).filter(([, each]) => each.fileName != null);
  if (found.length === 0) return undefined;
  return Object.fromEntries(found.map(([name, each]) => [name, { ...each, fileExtension: String(each.fileName).split('.').pop(), fileType: String(each.mimeType).split('/')[0] }]));
};`;
