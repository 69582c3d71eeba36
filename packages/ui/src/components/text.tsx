import { Text } from '@mantine/core';

/** A remark below or beside what matters. */
export const Hint = Text.withProps({ size: 'xs', c: 'dimmed' });

/** Text of the usual size that stands back: a placeholder for what is missing. */
export const Muted = Text.withProps({ size: 'sm', c: 'dimmed' });

/** What is wrong with a field that has no error of its own. */
export const FieldError = Text.withProps({ size: 'xs', c: 'var(--mantine-color-error)', role: 'alert' });
