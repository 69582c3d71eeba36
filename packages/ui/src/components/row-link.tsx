import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** A link in a row of a table: in the colour of the text around it, on one line, whole on hover where `title` is. */
export function RowLink({
  to,
  title,
  isName = false,
  children,
}: {
  to: string;
  title?: string;
  /** It is the name of what the row is about: bolder, and what the keys of a list lead to. */
  isName?: boolean;
  children: ReactNode;
}) {
  return (
    <Anchor
      component={Link}
      to={to}
      size="sm"
      truncate
      c="var(--mantine-color-text)"
      {...(title === undefined ? {} : { title })}
      {...(isName ? { fw: 500, 'data-row-link': true } : {})}
    >
      {children}
    </Anchor>
  );
}
