export interface ProcessLock {
  release(): Promise<void>;
}

export function takeLock(folder: string, name: string): Promise<ProcessLock | null>;
export function findHolder(folder: string, name: string): Promise<number | null>;
export function withLock<Result>(
  lock: {
    readonly folder: string;
    readonly name: string;
    readonly task: string;
    readonly say: (text: string) => void;
  },
  work: () => Promise<Result>,
): Promise<Result>;
