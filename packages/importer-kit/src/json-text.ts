/** Whether a piece of JSON ends within a string. @param isInside whether it begins within one */
export function endsInString(text: string, isInside: boolean): boolean {
  let isIn = isInside;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') isIn = !isIn;
  }
  return isIn;
}
