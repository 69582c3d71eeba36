import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';

export const loadNodeRuns = () => import('./node-run-menu.tsx');
export const NodeRunMenu = lazyPart(async () => (await loadNodeRuns()).NodeRunMenu);
export const NodeRunLines = lazyPart(async () => (await loadNodeRuns()).NodeRunLines);
