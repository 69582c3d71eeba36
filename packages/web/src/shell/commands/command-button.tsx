import { Group, Kbd, NavLink } from '@mantine/core';
import { isModKey, MOD } from '@millrace/ui/commands/mod-key.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Search } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';

const CommandPalette = lazyPart(async () => (await import('./command-palette.tsx')).CommandPalette);

/** The command palette, which Ctrl+K (on a Mac, Cmd+K) opens and closes wherever the focus is, but not above a dialog. */
export function useCommandPalette(): { readonly palette: ReactNode; readonly open: () => void } {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !isModKey(event) || event.isComposing) return;
      // Browsers would go to the address bar.
      event.preventDefault();
      // Whoever goes elsewhere would lose what a dialog has: what was typed, or a key that is shown only once.
      if (document.querySelector('[aria-modal="true"]:not([data-commands])') !== null) return;
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
          <Group justify="space-between" gap={4} wrap="nowrap" style={{ whiteSpace: 'nowrap' }}>
            {label}
            <Kbd size="xs" aria-hidden>
              {MOD} K
            </Kbd>
          </Group>
        )
      }
      aria-label={isNarrow ? label : undefined}
      aria-keyshortcuts="Control+K Meta+K"
      title={isNarrow ? `${label} (${MOD}+K)` : undefined}
      leftSection={<Search size={16} aria-hidden />}
      style={{ borderRadius: 'var(--mantine-radius-sm)' }}
      onClick={onClick}
    />
  );
}
