import { type NumberInputProps, Text } from '@mantine/core';

/** What a number of milliseconds, seconds or bytes comes to, at the end of its field; null: nothing is told. */
export function amountSection(
  words: string | null,
): Pick<NumberInputProps, 'rightSection' | 'rightSectionWidth'> {
  if (words === null) return {};
  const rightSection = (
    <Text size="xs" c="dimmed" pr={8} style={{ whiteSpace: 'nowrap' }}>
      {words}
    </Text>
  );
  return { rightSection, rightSectionWidth: `${words.length + 2}ch` };
}
