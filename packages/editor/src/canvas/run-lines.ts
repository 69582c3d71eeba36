import { type ComponentType, createContext } from 'react';

/** The lines of a node's menu that run it; null where nothing can be run. */
export const RunLines = createContext<ComponentType<{ readonly nodeId: string }> | null>(null);
