export type { ImportLimits } from '@millrace/importer-kit/limits';
export {
  type ImportedWorkflow,
  type ImportResult,
  type Outcome,
  PRODUCTS,
  type Product,
  workflowsOf,
} from '@millrace/importer-kit/report';
export { type ImportProblem, problemsOf } from './findings.ts';
export { detectProduct, type ImportFault, type ImportOptions, importWork, importWorkflow } from './import.ts';
