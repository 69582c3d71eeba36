/** The engine's public API. Pure: time, randomness and everything external are arguments. */

export {
  listPaths,
  type PlacedTemplateError,
  parseTemplate,
  parseTemplates,
  type Template,
} from '@millrace/templates/template';
export type { TemplateError } from '@millrace/templates/template-expression';
export { RenderLimitError, readField } from '@millrace/templates/template-filter';
export { FILTERS } from '@millrace/templates/template-filters';
export { formatDate, momentOf } from '@millrace/templates/template-filters-date';
export { toNumber } from '@millrace/templates/template-filters-number';
export {
  listNodeReferences,
  type NodeReference,
  renameNodeReferences,
  templateStep,
} from '@millrace/templates/template-references';
export { render, renderWork, type TemplateScope } from '@millrace/templates/template-render';
export { listTemplates } from '@millrace/templates/template-spans';
export { canonicalWork } from '@millrace/values/canonical-work';
export { compareDecimals, type Decimal, decimalText, parseDecimal } from '@millrace/values/decimal';
export {
  addExact,
  divideExact,
  type ExactNumber,
  fromExact,
  multiplyExact,
  roundExact,
  subtractExact,
  toDecimal,
  toExact,
} from '@millrace/values/exact-number';
export {
  canonicalJson,
  escapePointer,
  findUnsupportedCharacters,
  isJsonArray,
  isJsonObject,
  isNumber,
  isRawNumber,
  type JsonObject,
  type JsonSchema,
  type JsonText,
  type JsonValue,
  joinPointer,
  own,
  parseJson,
  pointerToField,
  pointerTokens,
  type RawJsonNumber,
  setOwn,
  stringifyJson,
  textOrJson,
  tryParseJson,
} from '@millrace/values/json';
export { jsonDepthExceeds } from '@millrace/values/json-depth';
export { findJsonMistake } from '@millrace/values/json-mistake';
export { checkJsonSize, measureWork, type SizeVerdict } from '@millrace/values/json-size';
export { parseWork, stringifyWork } from '@millrace/values/json-work';
export { loadOnce, once } from '@millrace/values/load-once';
export { compareKeys, LAST_RANK, type OrderKey, orderKey } from '@millrace/values/order-key';
export { searchForPattern } from '@millrace/values/pattern';
export { remember } from '@millrace/values/remember';
export { includesText, includesTextWork, SEARCHED_AT_ONCE, searchFor } from '@millrace/values/text-search';
export { formatTimestamp, parseTimestamp } from '@millrace/values/timestamp';
export {
  finishWork,
  isWork,
  Meter,
  mapWork,
  sortWork,
  stepsToRead,
  TooManyStepsError,
  type Work,
} from '@millrace/values/work';
export { inZone, isNamedZone, momentAt, parseMoment, type ZonedTime } from '@millrace/values/zoned-time';
export * from './ai-service.ts';
export { isTurnOfOldest, PRIORITIES, type Priority, USUAL_PRIORITY } from './claim-order.ts';
export {
  CANCELLED_BY_CONCURRENCY,
  type Concurrency,
  ON_LIMIT,
  type OnLimit,
} from './concurrency.ts';
export * from './credentials.ts';
export type { AbortReason, Effect, StepEvent, StopReason } from './effects.ts';
export * from './execution.ts';
export {
  describeError,
  describeExecutionError,
  explainFailure,
  readError,
  type StoredError,
  storeError,
} from './failures.ts';
export * from './file-contents.ts';
export { type FileValue, fileIdOf, findFiles, isFileId } from './file-value.ts';
export {
  type Flow,
  type FlowEdge,
  type FlowNode,
  type FlowNodeData,
  type FlowSettings,
  LOOP_TYPES,
  type OnError,
  type Problem,
  type StructureError,
} from './flow.ts';
export { findProblems, findProblemsWork, handlesOf } from './flow-problems.ts';
export { type StructureLimits, validateStructure } from './flow-structure.ts';
export { foldRecords, type RecordChunks, recordsToShow, resultOf } from './fold.ts';
export { buildGraph, reachableFrom } from './graph.ts';
export * from './http.ts';
export { describeKeyword, type KeywordMessage, REQUIRED, UNKNOWN_FIELD } from './keyword-messages.ts';
export * from './listening.ts';
export { extensionOf, mediaTypeOf } from './media-types.ts';
export type { MemoryService, MemoryTurn } from './memory-service.ts';
export * from './node.ts';
export * from './node-result.ts';
export {
  type CompileResult,
  compile,
  compileWork,
  type DeferredMember,
  defaultTimeoutMs,
  displayNameOf,
  inputSchemaOf,
  outcomeOfProblem,
  type Plan,
  type PlanEdge,
  type PlanNode,
  type Scope,
  triggersOf,
  triggerTypeOf,
} from './plan.ts';
export { renderAtEnd } from './render-at-end.ts';
export { type RerunScope, recordsToKeep } from './rerun.ts';
export { NO_RETRY, type RetryPolicy, retryDelayMs } from './retry.ts';
export { retryAfterMs } from './retry-after.ts';
export { type SchemaError, schemaTooExpensive, validateValue, validateWithin } from './schema.ts';
export { describeUnusableSchema, findSchemaFaults, type SchemaFault } from './schema-faults.ts';
export { type SearchKey, searchKeysOf, searchValueOf } from './search-keys.ts';
export * from './services.ts';
export {
  countSlots,
  DEFAULT_SHARE,
  mayHoldAnother,
  type OrganisationShare,
  type SlotShares,
} from './slot-shares.ts';
export {
  type Admission,
  admit,
  type CellRate,
  cellRateOf,
  debouncedUntil,
  dueAfter,
  type RateState,
  releasable,
  type StartDebounce,
  type StartRate,
  startKeyOf,
} from './start-holds.ts';
export type { ExecutionInput, ExecutionLimits, ExecutionState, Phase } from './state.ts';
export { begin, resume, resumeWork, type Step, step, stepAll, stepWork } from './step.ts';
export * from './store.ts';
export {
  type InputProperty,
  inputOfRow,
  inputPropertiesOf,
  undeclaredProperty,
} from './table-input.ts';
export {
  recordedTrigger,
  requestIn,
  startedBy,
  startRecords,
  type TriggerCall,
  triggerAt,
} from './trigger-request.ts';
export * from './vector-service.ts';
