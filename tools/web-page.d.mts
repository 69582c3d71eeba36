import type { Server } from 'node:net';

export function ensureWebPage(say?: (text: string) => void): Promise<string>;
export function pageSources(): string[];
export function takeLock(name?: string): Promise<Server | null>;
