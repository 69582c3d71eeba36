export function ensureWebPage(say?: (text: string) => void): Promise<string>;
export function pageSources(): string[];
