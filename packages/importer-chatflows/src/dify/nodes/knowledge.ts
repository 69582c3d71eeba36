import type { JsonValue } from '@millrace/engine';
import { extend, template } from '@millrace/importer-kit/refs';
import { Unmappable } from '@millrace/importer-kit/unmappable';
import { arrayOf, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import type { DirectStep, Made, Make } from '../../direct/maker.ts';
import { selected } from '../values.ts';
import { withError } from './errors.ts';

/** Nodes that find texts. */
export const KNOWLEDGE: { readonly [type: string]: Make } = { 'knowledge-retrieval': withError(retrieve) };

/** What is asked if the file doesn't say which model has made the vectors. */
const MODEL = 'text-embedding-3-small';
const MAX_BASES = 10;
const MAX_NAME = 100;

/** The texts as Dify has them, the best of all knowledge bases first. */
const AS_DIFY = `return input.found.flat()
  .sort((left, right) => right.score - left.score)
  .slice(0, input.limit)
  .map(({ text, metadata, score }) => ({ content: text, title: metadata?.document_name ?? '', metadata: { ...metadata, score } }));`;

/** Searches a collection for each knowledge base. */
function retrieve(step: DirectStep): Made {
  const { data } = step;
  const bases = arrayOf(data.dataset_ids).flatMap((each) => textOf(each) ?? []);
  if (bases.length === 0 || bases.length > MAX_BASES)
    throw new Unmappable(message('import.unknown_operation', { operation: 'dataset_ids' }));
  // Without its filter, texts of others would be found.
  const filter = textOf(data.metadata_filtering_mode) ?? 'disabled';
  if (filter !== 'disabled')
    throw new Unmappable(message('import.unknown_operation', { operation: 'metadata_filtering' }));
  const isSingle = data.retrieval_mode === 'single';
  const several = objectOf(data.multiple_retrieval_config);
  const weights = objectOf(objectOf(several.weights).vector_setting);
  const limit = Number(several.top_k ?? 4);
  const most = Number.isInteger(limit) && limit >= 1 ? Math.min(limit, 100) : 4;
  const least = several.score_threshold;
  step.approximate(message('import.vectors_kept_here'));
  step.approximate(message('import.choose_model_credential'));
  if (isSingle) step.approximate(message('import.all_bases_searched'));
  else if (several.reranking_enable === true || several.weights != null)
    step.approximate(message('import.not_reranked'));
  const found = bases.map((base, index): JsonValue => {
    const id = step.add(
      'ai.vectors',
      {
        operation: 'search',
        collection: base.slice(0, MAX_NAME),
        credential_id: 0,
        model: textOf(weights.embedding_model_name) ?? MODEL,
        query: template(selected(step, data.query_variable_selector)),
        limit: most,
        ...(typeof least === 'number' && least > 0 && least <= 1 ? { min_score: least } : {}),
      },
      index === 0 ? {} : { suffix: String(index + 1) },
    );
    return template(`nodes.${id}.output.matches`);
  });
  const made = step.add('core.code', { code: AS_DIFY, input: { found, limit: most } }, { suffix: 'texts' });
  return step.result(([name = '', ...rest]) =>
    name === 'result' ? extend(`nodes.${made}.output.result`, rest) : null,
  );
}
