import { Text } from '@mantine/core';

/** Secondary text below or beside the main content. */
export const Hint = Text.withProps({ size: 'xs', c: 'dimmed' });

/** Dimmed text of normal size: a placeholder for a missing value. */
export const Muted = Text.withProps({ size: 'sm', c: 'dimmed' });

/** An error message for a field that doesn't show its own. */
export const FieldError = Text.withProps({ size: 'xs', c: 'var(--mantine-color-error)', role: 'alert' });
