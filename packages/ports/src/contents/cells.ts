import { stringifyJson } from '@millrace/engine';

/** What a cell of a table contains; null for an empty one. */
export type Cell = string | number | boolean | null;

/** The names of columns: as they are in the header, each once. Those without one are called after their place. */
export function columnNames(header: readonly Cell[]): string[] {
  const taken = new Set<string>();
  return header.map((cell, index) => {
    const given = cell === null ? '' : String(cell).trim();
    const wanted = given === '' ? placeName(index) : given;
    let name = wanted;
    for (let number = 2; taken.has(name); number += 1) name = `${wanted}_${number}`;
    taken.add(name);
    return name;
  });
}

function placeName(index: number): string {
  return `column_${index + 1}`;
}

/**
 * Writes rows as JSON: as objects with the columns' names, or as lists without any. A cell that a row lacks is null, and one without a column is called
 * after its place.
 */
export function createRowWriter(columns: readonly string[] | null): (cells: readonly Cell[]) => string {
  if (columns === null) return (cells) => stringifyJson([...cells]);
  const taken = new Set(columns);
  const keys = columns.map((name) => `${stringifyJson(name)}:`);
  const keyAt = (index: number): string => {
    for (let at = keys.length; at <= index; at += 1) {
      let name = placeName(at);
      while (taken.has(name)) name = `${name}_`;
      taken.add(name);
      keys.push(`${stringifyJson(name)}:`);
    }
    return keys[index] ?? '';
  };
  return (cells) => {
    const length = Math.max(columns.length, cells.length);
    const members: string[] = [];
    for (let index = 0; index < length; index += 1) {
      members.push(keyAt(index) + stringifyJson(cells[index] ?? null));
    }
    return `{${members.join(',')}}`;
  };
}
