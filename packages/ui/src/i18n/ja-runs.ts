import approvals from './ja/approvals.json';
import comparison from './ja/comparison.json';
import runs from './ja/runs.json';

/** The Japanese texts of lists of executions, of comparisons and of approvals. */
export const texts = { approvals, comparison, runs };
