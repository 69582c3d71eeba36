import type { NumberInputProps } from '@mantine/core';
import { Hint } from '@millrace/ui/components/text.tsx';

/** A number of milliseconds, seconds or bytes in a readable unit, at the end of its field; null for none. */
export function amountSection(
  text: string | null,
): Pick<NumberInputProps, 'rightSection' | 'rightSectionWidth'> {
  if (text === null) return {};
  const rightSection = (
    <Hint pr={8} style={{ whiteSpace: 'nowrap' }}>
      {text}
    </Hint>
  );
  return { rightSection, rightSectionWidth: `${text.length + 2}ch` };
}
