import type { LucideIcon } from 'lucide-react';
import { useEffect } from 'react';

/** Where a command is listed, in this order. */
export const COMMAND_GROUPS = [
  'recent',
  'nodes',
  'workflows',
  'executions',
  'actions',
  'pages',
  'documentation',
] as const;
type CommandGroup = (typeof COMMAND_GROUPS)[number];

/** Something to go to or to do, as the command palette offers it. */
export interface Command {
  /** Unique among those offered together. */
  readonly id: string;
  readonly group: CommandGroup;
  readonly title: string;
  /** Shown after the title. */
  readonly hint?: string;
  /** Other words it is found by. */
  readonly synonyms?: readonly string[];
  readonly icon: LucideIcon;
  readonly run: () => void;
}

/** The commands of a part of the page, asked for when the palette opens. */
type CommandSource = () => Promise<readonly Command[]>;

const sources = new Set<CommandSource>();

/** Offers commands while the component is shown. @param source a stable function */
export function useCommandSource(source: CommandSource): void {
  useEffect(() => {
    sources.add(source);
    return () => {
      sources.delete(source);
    };
  }, [source]);
}

/** The commands of all parts that are shown. */
export async function readCommandSources(): Promise<readonly Command[]> {
  return (await Promise.all([...sources].map((source) => source()))).flat();
}
