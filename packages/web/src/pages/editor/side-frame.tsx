import { Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Splitter, usePanelSize } from './splitter.tsx';

/** A panel beside the canvas; in a narrow window a drawer from below. */
export function SideFrame({
  isOpen,
  onClose,
  children,
}: {
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const isNarrow = useMediaQuery('(max-width: 48em)') ?? false;
  if (!isNarrow) return isOpen ? <SidePanel>{children}</SidePanel> : null;
  return (
    <Drawer.Root opened={isOpen} onClose={onClose} position="bottom" size="85%" padding={0}>
      <Drawer.Overlay />
      <Drawer.Content aria-label={t('editor.panel')}>
        <Drawer.Body h="100%">{children}</Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}

function SidePanel({ children }: { children: ReactNode }) {
  const { t } = useTranslation();
  const [width, setWidth] = usePanelSize('side', 420, 300, 900);
  return (
    <>
      <Splitter
        direction="column"
        label={t('editor.resizePanel')}
        size={width}
        min={300}
        max={900}
        onResize={setWidth}
      />
      <aside className="editor-side" style={{ width }} aria-label={t('editor.panel')}>
        {children}
      </aside>
    </>
  );
}
