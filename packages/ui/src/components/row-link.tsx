import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** A link in a table row: in the surrounding colour, on one line, with the full text on hover if `title` is set. */
export function RowLink({
  to,
  title,
  isName = false,
  children,
}: {
  to: string;
  title?: string;
  /** The row's name: bolder, and the target of keyboard navigation. */
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
