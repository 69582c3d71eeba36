/** A name as it follows a path in a template: in brackets where a dot would not do. */
export function templateStep(name: string | number): string {
  if (typeof name === 'number') return `[${name}]`;
  return /^[A-Za-z_][\w-]*$/.test(name) ? `.${name}` : `["${name.replace(/["\\\n\t]/g, escaped)}"]`;
}

/** All that templates know; any other character stands for itself. */
function escaped(character: string): string {
  if (character === '\n') return '\\n';
  return character === '\t' ? '\\t' : `\\${character}`;
}
