export function ensureArtefact(say?: (text: string) => void): Promise<string>;
export function artefactSources(): string[];
