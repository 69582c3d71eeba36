import { Box, Group, Stack, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { Muted } from './text.tsx';

/** The frame of a page: its title, what it is for in a line, its actions at the right, and its content. */
export function Page({
  title,
  description,
  actions,
  children,
  width = 1200,
}: {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** Pixels at most; `null`: all there are. */
  width?: number | null;
}) {
  useDocumentTitle(`${title} · Millrace`);
  return (
    <Box p={{ base: 'sm', sm: 'lg' }} maw={width ?? undefined} mx="auto" w="100%">
      <Stack gap="md">
        <Group justify="space-between" align="flex-start" wrap="wrap" gap="sm">
          <Box miw={0}>
            <Title order={1} lineClamp={2}>
              {title}
            </Title>
            {description !== undefined && <Muted component="div">{description}</Muted>}
          </Box>
          {actions !== undefined && <Group gap="xs">{actions}</Group>}
        </Group>
        {children}
      </Stack>
    </Box>
  );
}
