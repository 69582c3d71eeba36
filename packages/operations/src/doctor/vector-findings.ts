import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { type Message, message } from '@millrace/messages';
import type { ExtensionState } from '@millrace/ports/vectors/index-store';
import {
  MAX_COMPARED_NUMBERS,
  MAX_INDEXED_DIMENSION,
  MIN_INDEXED_NUMBERS,
} from '@millrace/ports/vectors/sizes';
import type { Finding } from './finding.ts';

/** How large collections of texts are searched. */
export interface VectorFacts {
  readonly extension: ExtensionState;
  /** Collections that are large enough for an index, and not too long. */
  readonly large: number;
  readonly indexed: number;
  /** Whose indexes are being filled, with how many of how many items. */
  readonly unfilled: number;
  readonly filled_items: number;
  readonly unfilled_items: number;
  /** Collections without an index that are larger than searches without one are meant for. */
  readonly too_large: number;
}

export async function readVectorFacts(db: Queryable): Promise<VectorFacts> {
  return queryRow<VectorFacts>(
    db,
    `SELECT vector_extension_state() AS extension, count(*) FILTER (WHERE dimension <= $3) AS large,
       count(*) FILTER (WHERE is_there AND filled_to IS NULL) AS indexed,
       count(*) FILTER (WHERE is_there AND filled_to IS NOT NULL) AS unfilled,
       coalesce(sum(filled) FILTER (WHERE is_there AND filled_to IS NOT NULL), 0)::bigint AS filled_items,
       coalesce(sum(items) FILTER (WHERE is_there AND filled_to IS NOT NULL), 0)::bigint AS unfilled_items,
       count(*) FILTER (WHERE NOT is_there AND numbers > $2) AS too_large
     FROM (SELECT c.dimension, c.items, c.items::bigint * c.dimension AS numbers, x.filled, x.filled_to,
         x.id IS NOT NULL AND has_vector_index(x.id) AS is_there
       FROM vector_collections c
         LEFT JOIN vector_indexes x ON x.organisation_id = c.organisation_id AND x.collection = c.name
       WHERE c.items::bigint * c.dimension >= $1) l`,
    [MIN_INDEXED_NUMBERS, MAX_COMPARED_NUMBERS, MAX_INDEXED_DIMENSION],
  );
}

/** Which way large collections are searched, if there are any. */
export function vectorFindings(facts: VectorFacts): Finding[] {
  const { extension, large, indexed, unfilled } = facts;
  if (facts.too_large > 0) {
    return [
      {
        check: 'vectors',
        level: 'warning',
        what: message('doctor.vectors_too_large', { count: facts.too_large }),
        why: message('doctor.vectors_too_large_why'),
        fix: fixOf(extension),
      },
    ];
  }
  if (unfilled > 0) {
    return [
      {
        check: 'vectors',
        level: 'info',
        what: message('doctor.vectors_filling', {
          count: unfilled,
          filled: facts.filled_items,
          items: facts.unfilled_items,
        }),
        why: message('doctor.vectors_filling_why'),
        fix: message('doctor.vectors_filling_fix'),
      },
    ];
  }
  if (large > indexed) {
    return [
      {
        check: 'vectors',
        level: 'info',
        what: message('doctor.vectors_compared', { count: large - indexed }),
        why: message('doctor.vectors_compared_why'),
        fix: fixOf(extension),
      },
    ];
  }
  if (indexed === 0) return [];
  return [
    {
      check: 'vectors',
      level: 'info',
      what: message('doctor.vectors_indexed', { count: indexed }),
      why: message('doctor.vectors_indexed_why'),
      fix: message('doctor.vectors_indexed_fix'),
    },
  ];
}

/** What whoever runs the database can do so that there are indexes. */
function fixOf(extension: ExtensionState): Message {
  switch (extension) {
    case 'ready':
      return message('doctor.vectors_fix_ready');
    case 'old':
      return message('doctor.vectors_fix_old');
    case 'available':
      return message('doctor.vectors_fix_available');
    case 'missing':
      return message('doctor.vectors_fix_missing');
  }
}
