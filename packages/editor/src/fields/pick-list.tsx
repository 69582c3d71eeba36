import { Button, Combobox, useCombobox } from '@mantine/core';
import { ChevronDown } from 'lucide-react';
import type { ReactNode } from 'react';

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
  const combobox = useCombobox({
    onDropdownOpen: () => combobox.focusSearchInput(),
    onDropdownClose: () => combobox.resetSelectedOption(),
  });
  const choose = (value: string) => {
    if (!onChoose(value)) combobox.closeDropdown();
  };
  const size =
    icon === undefined ? ({ size: 'compact-xs', variant: 'subtle' } as const) : { variant: 'default' };
  return (
    <Combobox store={combobox} onOptionSubmit={choose} width={320} position="bottom-start" withinPortal>
      <Combobox.Target targetType="button">
        <Button
          {...size}
          w="fit-content"
          leftSection={icon}
          rightSection={<ChevronDown size={12} aria-hidden />}
          aria-label={label}
          onClick={() => combobox.toggleDropdown()}
        >
          {text}
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown>{combobox.dropdownOpened && children}</Combobox.Dropdown>
    </Combobox>
  );
}
