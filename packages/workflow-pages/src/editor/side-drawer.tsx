import '@millrace/ui/i18n/parts/workplace.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** The side panel of a narrow window, from below. */
export function SideDrawer({
  isOpen,
  onClose,
  children,
}: {
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  return (
    <Drawer.Root opened={isOpen} onClose={onClose} position="bottom" size="85%" padding={0}>
      <Drawer.Overlay />
      <Drawer.Content aria-label={t('workplace.panel')}>
        <Drawer.Body h="100%">{children}</Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
