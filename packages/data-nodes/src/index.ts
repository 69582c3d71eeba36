import type { NodeDefinition } from '@millrace/engine';
import { kafka } from './kafka.ts';
import { mongodb } from './mongodb.ts';
import { redis } from './redis.ts';

/** Nodes for databases that don't speak SQL, and for queues. */
export const dataNodes: readonly NodeDefinition[] = [redis, mongodb, kafka];
