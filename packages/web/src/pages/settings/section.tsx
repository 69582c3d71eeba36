import { Box, Button, Group, Stack, Title } from '@mantine/core';
import { Form } from '@millrace/ui/components/form.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** A section of the settings: description at the left, the rest at the right. */
export function SectionFrame({
  title,
  about,
  more,
  children,
  onSubmit,
}: {
  title: string;
  about?: string | undefined;
  /** Below the description. */
  more?: ReactNode;
  children: ReactNode;
  /** Makes it a form. */
  onSubmit?: () => void;
}) {
  const columns = (
    <Group align="flex-start" gap="lg" wrap="wrap">
      <Stack gap={4} w={{ base: '100%', sm: 240 }}>
        <Title order={2}>{title}</Title>
        {about !== undefined && <Hint>{about}</Hint>}
        {more}
      </Stack>
      <Stack gap="sm" flex={1} miw={{ base: '100%', sm: 300 }}>
        {children}
      </Stack>
    </Group>
  );
  return (
    <Box
      component="section"
      aria-label={title}
      py="md"
      style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}
    >
      {onSubmit === undefined ? columns : <Form onSubmit={onSubmit}>{columns}</Form>}
    </Box>
  );
}

/** A section that is saved on its own. */
export function Section({
  children,
  isChanged,
  isBusy,
  onSubmit,
  ...frame
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
    <SectionFrame {...frame} onSubmit={submit}>
      {children}
      <Group>
        <Button type="submit" disabled={!isChanged} loading={isBusy}>
          {t('common.save')}
        </Button>
      </Group>
    </SectionFrame>
  );
}
