import type { NodeDefinition } from '@millrace/engine';
import { mongodb } from './mongodb.ts';
import { redis } from './redis.ts';

/** Nodes for databases that don't speak SQL. */
export const dataNodes: readonly NodeDefinition[] = [redis, mongodb];
