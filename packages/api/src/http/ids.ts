import { notFound, type Resource } from '@millrace/errors/errors';

const FORM = /^[1-9]\d{0,15}$/;

/**
 * The id in a path.
 * @param what the resource's name in the 404: `workflow`, `execution`, `version`
 * @throws ApiError the same 404 as for an id that does not exist, for everything that cannot be an id
 */
export function pathId(text: string, what: Resource): number {
  const id = FORM.test(text) ? Number(text) : Number.NaN;
  // Larger ids than a double counts exactly would be taken for their neighbours.
  if (!Number.isSafeInteger(id)) throw notFound(what);
  return id;
}
