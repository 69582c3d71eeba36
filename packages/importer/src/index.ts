export { type ImportProblem, problemsOf } from './findings.ts';
export { detectProduct, type ImportFault, type ImportOptions, importWork, importWorkflow } from './import.ts';
export type { ImportLimits } from './limits.ts';
export {
  type ImportedWorkflow,
  type ImportResult,
  type Outcome,
  PRODUCTS,
  type Product,
} from './report.ts';
