import { Group, NavLink } from '@mantine/core';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Search } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';

const CommandPalette = lazyPart(async () => (await import('./command-palette.tsx')).CommandPalette);

/** The command palette, which Ctrl+K opens and closes wherever the focus is. */
export function useCommandPalette(): { readonly palette: ReactNode; readonly open: () => void } {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
      if (!(ctrlKey || metaKey) || altKey || shiftKey || key.toLowerCase() !== 'k') return;
      // Browsers would go to the address bar.
      event.preventDefault();
      setIsOpen((was) => !was);
    };
    document.addEventListener('keydown', onKey, true);
    return () => document.removeEventListener('keydown', onKey, true);
  }, []);
  return {
    open: () => setIsOpen(true),
    palette: isOpen && <CommandPalette onClose={() => setIsOpen(false)} />,
  };
}

/** Opens the command palette from the navigation. */
export function CommandButton({ isNarrow, onClick }: { isNarrow: boolean; onClick: () => void }) {
  const { t } = useTranslation();
  const label = t('shell.commands');
  return (
    <NavLink
      component="button"
      type="button"
      label={
        isNarrow ? null : (
          <Group justify="space-between" wrap="nowrap">
            {label}
            <Hint component="span" aria-hidden>
              Ctrl K
            </Hint>
          </Group>
        )
      }
      aria-label={label}
      aria-keyshortcuts="Control+K Meta+K"
      title={isNarrow ? `${label} (Ctrl+K)` : undefined}
      leftSection={<Search size={16} aria-hidden />}
      style={{ borderRadius: 'var(--mantine-radius-sm)' }}
      onClick={onClick}
    />
  );
}
