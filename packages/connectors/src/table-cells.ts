import { isJsonArray, type JsonValue } from '@millrace/engine';
import { scalarText } from '@millrace/node-kit/values';

/** The cells of a row, or of a line of names; none if it is no list. */
export function cellsOf(row: JsonValue): readonly JsonValue[] {
  return isJsonArray(row) ? row : [];
}

/** A cell as it is compared: a number and its text are the same. */
export function cellText(cell: JsonValue): string {
  return cell === null ? '' : (scalarText(cell) ?? '');
}
