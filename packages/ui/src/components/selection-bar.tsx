import { Button, Group, Paper, Text } from '@mantine/core';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';

/** What can be done with the selected items of a list; it stays in view while the list scrolls. */
export function SelectionBar({
  label,
  count,
  clearLabel,
  onClear,
  actions,
  children,
}: {
  label: string;
  /** How many are selected, in words. */
  count: string;
  clearLabel: string;
  onClear: () => void;
  actions: ReactNode;
  /** Below the actions. */
  children?: ReactNode;
}) {
  return (
    <Paper
      withBorder
      shadow="md"
      p="xs"
      role="toolbar"
      aria-label={label}
      style={{ position: 'sticky', bottom: 12, zIndex: 10 }}
    >
      <Group gap="xs">
        <Text size="sm" fw={500} role="status">
          {count}
        </Text>
        {actions}
        <Button
          variant="subtle"
          color="gray"
          leftSection={<X size={14} aria-hidden />}
          onClick={onClear}
          ml="auto"
        >
          {clearLabel}
        </Button>
      </Group>
      {children}
    </Paper>
  );
}
