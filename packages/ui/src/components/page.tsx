import { Box, Group, Stack, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { Muted } from './text.tsx';

/** The page layout: title, a one-line description, actions at the right, and content. */
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
  /** Maximum pixels; `null`: the full width. */
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
