import { Input, InputBase, type SelectProps } from '@mantine/core';
import { ChevronsUpDown } from 'lucide-react';
import { type ComponentType, useEffect, useRef, useState } from 'react';
import { loadInReserve } from './load-in-reserve.ts';

const load = async () => (await import('./select-loaded.ts')).Select;

type Given = Omit<SelectProps, 'data'> & {
  value: string;
  data: readonly { readonly value: string; readonly label: string }[];
};

/**
 * A select on a page that has no other: until somebody is about to use it, it shows what is chosen. What lists the choices is loaded then, or else once
 * the page is complete.
 */
export function SelectLater(props: Given) {
  const [Select, setSelect] = useState<ComponentType<SelectProps> | null>(null);
  /** It was opened. */
  const [isUsed, setIsUsed] = useState(false);
  /** What is loaded takes over the focus. */
  const [hadFocus, setHadFocus] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const isLoaded = Select !== null;
  const prepare = async () => {
    const loaded = await load();
    setHadFocus(document.activeElement === button.current);
    setSelect(() => loaded);
  };
  useEffect(() => {
    if (isLoaded) return;
    return loadInReserve(prepare);
  }, [isLoaded]);
  const { data, value, label } = props;
  if (Select !== null)
    return (
      <Select {...props} data={[...data]} autoFocus={isUsed || hadFocus} defaultDropdownOpened={isUsed} />
    );
  const use = () => {
    setIsUsed(true);
    // Without a connection nothing is chosen either.
    void prepare().catch(() => undefined);
  };
  const chosen = data.find((each) => each.value === value)?.label;
  return (
    <Input.Wrapper label={label}>
      <InputBase
        ref={button}
        component="button"
        type="button"
        aria-haspopup="listbox"
        {...(typeof label === 'string' ? { 'aria-label': `${label}: ${chosen ?? ''}` } : {})}
        pointer
        rightSection={<ChevronsUpDown size={14} aria-hidden />}
        onPointerEnter={() => void prepare().catch(() => undefined)}
        onClick={use}
      >
        {chosen}
      </InputBase>
    </Input.Wrapper>
  );
}
