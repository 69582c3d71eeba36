/** `a,b` as a list; blanks around the commas are ignored. */
export function readList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
