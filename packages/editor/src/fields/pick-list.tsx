import { Button, Combobox, useCombobox } from '@mantine/core';
import { ChevronDown } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useRef } from 'react';

/** Frames in which the search is waited for. */
const MAX_TURNS = 60;

/** A button that opens a list with a search; its content is rendered while it is open. */
export function PickList({
  text,
  label,
  icon,
  onChoose,
  children,
}: {
  text: string;
  /** The button's whole name. */
  label: string;
  /** Before the text: a button of normal size. */
  icon?: ReactNode;
  /** Returns whether the list stays open. */
  onChoose: (value: string) => boolean;
  children: ReactNode;
}) {
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  const { dropdownOpened: isOpen } = combobox;
  const target = useRef<HTMLButtonElement>(null);
  const focusSearch = useEffectEvent(combobox.focusSearchInput);
  useEffect(() => {
    if (!isOpen) return;
    let [frame, turns] = [0, 0];
    // Before the list has its place, what is in it can't be focused. Some lists have no search.
    const attempt = () => {
      if (target.current !== document.activeElement || turns > MAX_TURNS) return;
      focusSearch();
      turns += 1;
      frame = requestAnimationFrame(attempt);
    };
    attempt();
    return () => cancelAnimationFrame(frame);
  }, [isOpen]);
  /** Escape closes the list alone, not what it belongs to. */
  const keepEscape = (event: KeyboardEvent) => {
    if (isOpen && event.key === 'Escape') event.stopPropagation();
  };
  const choose = (value: string) => {
    if (!onChoose(value)) combobox.closeDropdown();
  };
  const size =
    icon === undefined ? ({ size: 'compact-xs', variant: 'subtle' } as const) : { variant: 'default' };
  return (
    <Combobox store={combobox} onOptionSubmit={choose} width={320} position="bottom-start" withinPortal>
      <Combobox.Target targetType="button">
        <Button
          ref={target}
          {...size}
          w="fit-content"
          leftSection={icon}
          rightSection={<ChevronDown size={12} aria-hidden />}
          aria-label={label}
          onClick={() => combobox.toggleDropdown()}
          onKeyDown={keepEscape}
        >
          {text}
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown onKeyDown={keepEscape}>{isOpen && children}</Combobox.Dropdown>
    </Combobox>
  );
}
