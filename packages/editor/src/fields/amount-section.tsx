import type { NumberInputProps } from '@mantine/core';
import { Hint } from '@millrace/ui/components/text.tsx';

/** What a number of milliseconds, seconds or bytes comes to, at the end of its field; null: nothing is told. */
export function amountSection(
  words: string | null,
): Pick<NumberInputProps, 'rightSection' | 'rightSectionWidth'> {
  if (words === null) return {};
  const rightSection = (
    <Hint pr={8} style={{ whiteSpace: 'nowrap' }}>
      {words}
    </Hint>
  );
  return { rightSection, rightSectionWidth: `${words.length + 2}ch` };
}
