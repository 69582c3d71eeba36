import { Code } from '@mantine/core';

/** A text with `names` in it, which stand out as what one types. */
export function WithCode({ text }: { text: string }) {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part : <Code key={`${index} ${part}`}>{part}</Code>));
}
