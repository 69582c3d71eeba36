import { useMediaQuery } from '@mantine/hooks';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Splitter, usePanelSize } from './splitter.tsx';

const SideDrawer = lazyPart(async () => (await import('./side-drawer.tsx')).SideDrawer);

/** A panel beside the canvas; in a narrow window a drawer from below. */
export function SideFrame({
  isOpen,
  isWide = false,
  onClose,
  children,
}: {
  isOpen: boolean;
  /** Leaves only a strip of the canvas: room for data, form and output side by side. */
  isWide?: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const isNarrow = useMediaQuery('(max-width: 48em)') ?? false;
  if (!isNarrow) return isOpen ? <SidePanel isWide={isWide}>{children}</SidePanel> : null;
  return (
    <SideDrawer isOpen={isOpen} onClose={onClose}>
      {children}
    </SideDrawer>
  );
}

function SidePanel({ isWide, children }: { isWide: boolean; children: ReactNode }) {
  const { t } = useTranslation();
  const panel = usePanelSize('side', { fallback: 420, min: 300, max: 900 });
  return (
    <>
      {!isWide && <Splitter direction="column" label={t('workplace.resizePanel')} {...panel} />}
      <aside
        className="editor-side"
        style={{ width: isWide ? 'calc(100% - 160px)' : panel.size }}
        aria-label={t('workplace.panel')}
      >
        {children}
      </aside>
    </>
  );
}
