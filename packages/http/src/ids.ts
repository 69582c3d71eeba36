import { notFound, type Resource } from '@millrace/errors/errors';

const FORM = /^[1-9]\d{0,15}$/;

/**
 * The id in a path.
 * @param what the resource's name in the 404: `workflow`, `execution`, `version`
 * @throws ApiError the same 404 as for an id that doesn't exist, for anything that can't be an id
 */
export function pathId(text: string, what: Resource): number {
  const id = FORM.test(text) ? Number(text) : Number.NaN;
  // Ids beyond a double's exact range would be mistaken for their neighbours.
  if (!Number.isSafeInteger(id)) throw notFound(what);
  return id;
}

/** The type of the column has no larger one. */
export const MAX_VERSION = 2_147_483_647;

/** A version's number in a path. @throws ApiError `not_found` */
export function pathVersion(text: string): number {
  const version = pathId(text, 'version');
  if (version > MAX_VERSION) throw notFound('version');
  return version;
}
