/** Maximum depth of executions that start one another; anything deeper is a workflow that calls itself. */
export const MAX_DEPTH = 10;
