/** So many executions may have started one another, one below the other; more are a workflow that calls itself. */
export const MAX_DEPTH = 10;
