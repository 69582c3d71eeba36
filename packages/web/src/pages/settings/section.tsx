import { Box, Button, Group, Stack, Title } from '@mantine/core';
import { Form } from '@millrace/ui/components/form.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** A section of the settings: description at the left, form at the right. */
export function Section({
  title,
  about,
  children,
  isChanged,
  isBusy,
  onSubmit,
}: {
  title: string;
  about?: string;
  children: ReactNode;
  isChanged: boolean;
  isBusy: boolean;
  onSubmit: () => void;
}) {
  const { t } = useTranslation();
  const submit = () => {
    if (isChanged && !isBusy) onSubmit();
  };
  return (
    <Box
      component="section"
      aria-label={title}
      py="md"
      style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}
    >
      <Form onSubmit={submit}>
        <Group align="flex-start" gap="lg" wrap="wrap">
          <Stack gap={4} w={{ base: '100%', sm: 240 }}>
            <Title order={2}>{title}</Title>
            {about !== undefined && <Hint>{about}</Hint>}
          </Stack>
          <Stack gap="sm" flex={1} miw={{ base: '100%', sm: 300 }}>
            {children}
            <Group>
              <Button type="submit" disabled={!isChanged} loading={isBusy}>
                {t('common.save')}
              </Button>
            </Group>
          </Stack>
        </Group>
      </Form>
    </Box>
  );
}
