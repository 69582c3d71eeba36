import executions from './ja/executions.json';

/** The Japanese texts of executions. */
export const texts = { executions };
