import { Code } from '@mantine/core';

/** Text in which `names` in backticks are shown as code. */
export function WithCode({ text }: { text: string }) {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part : <Code key={`${index} ${part}`}>{part}</Code>));
}
