import '@millrace/ui/i18n/parts/commands.ts';
import { Kbd, Loader, Modal, ScrollArea, TextInput } from '@mantine/core';
import { COMMAND_GROUPS, type Command } from '@millrace/ui/commands/commands.ts';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { NewWorkflowDialog } from '@millrace/workflow-pages/workflows/new-workflow-dialog.tsx';
import { CornerDownLeft, Search } from 'lucide-react';
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './command-palette.module.css';
import { useCommands } from './use-commands.ts';

/** The service's limit. */
const MAX_SEARCH_LENGTH = 200;

/** Everything to go to and to do: by search, arrow keys and Enter. The field keeps the focus, and names the active option. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const listId = useId();
  const [search, setSearch] = useState('');
  const [at, setAt] = useState(0);
  const [isNew, setIsNew] = useState(false);
  const { commands, isSearching, hasFailed, fallback } = useCommands(search, {
    onNewWorkflow: () => setIsNew(true),
  });
  const groups = COMMAND_GROUPS.flatMap((group) => {
    const members = commands.filter((each) => each.group === group);
    return members.length === 0 ? [] : [{ group, members }];
  });
  // While searching, the group with the best match comes first.
  const [best] = commands;
  const shown =
    search.trim() === '' || best === undefined
      ? groups
      : groups.toSorted((a, b) => Number(b.group === best.group) - Number(a.group === best.group));
  const found = shown.flatMap(({ members }) => members);
  const active = found[Math.min(at, found.length - 1)];
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active?.id]);
  const choose = (command: Command) => {
    if (command.id !== 'new-workflow') onClose();
    command.run();
  };
  const isAwaited = useRef(false);
  const answered = useEffectEvent(() => {
    if (isAwaited.current && active !== undefined) choose(active);
  });
  useEffect(() => {
    if (!isSearching) answered();
  }, [isSearching]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(found.length - 1, Math.min(at, found.length - 1) + step)));
    } else if (event.key === 'Enter' && active !== undefined) {
      event.preventDefault();
      // Whoever knows the name presses Enter before the service has answered.
      if (isSearching && active.id === fallback.id) isAwaited.current = true;
      else choose(active);
    }
  };
  if (isNew) return <NewWorkflowDialog onClose={onClose} />;
  return (
    <Modal.Root opened onClose={onClose} size={620} yOffset="10vh" padding={0}>
      <Modal.Overlay />
      <Modal.Content aria-label={t('shell.commands')} data-commands>
        <TextInput
          data-autofocus
          role="combobox"
          aria-expanded
          aria-autocomplete="list"
          aria-controls={listId}
          aria-activedescendant={active === undefined ? undefined : `${listId}-${active.id}`}
          aria-label={t('shell.commands')}
          placeholder={t('commands.hint')}
          leftSection={<Search size={16} aria-hidden />}
          rightSection={isSearching ? <Loader size={14} aria-hidden /> : null}
          variant="unstyled"
          size="md"
          px="xs"
          className={classes.field}
          value={search}
          maxLength={MAX_SEARCH_LENGTH}
          onChange={({ currentTarget }) => {
            setSearch(currentTarget.value);
            setAt(0);
            isAwaited.current = false;
          }}
          onKeyDown={onKeyDown}
        />
        <ScrollArea.Autosize mah="min(60vh, 460px)" type="auto" scrollbars="y" viewportRef={list}>
          <div role="listbox" id={listId} aria-label={t('shell.commands')} className={classes.list}>
            {shown.map(({ group, members }) => (
              // biome-ignore lint/a11y/useSemanticElements: a group of options, not of fields
              <div key={group} role="group" aria-label={t(`commands.group.${group}`)}>
                <Hint fw={600} px="xs" pt={8} pb={2} aria-hidden>
                  {t(`commands.group.${group}`)}
                </Hint>
                {members.map((command) => (
                  <Option
                    key={command.id}
                    id={`${listId}-${command.id}`}
                    command={command}
                    isActive={command === active}
                    onPoint={() => setAt(found.indexOf(command))}
                    onChoose={() => choose(command)}
                  />
                ))}
              </div>
            ))}
          </div>
          <Muted px="md" pb={hasFailed ? 'md' : 0} ta="center" role="status">
            {hasFailed && t('commands.failed')}
          </Muted>
        </ScrollArea.Autosize>
        <div className={classes.foot} aria-hidden>
          <Kbd size="xs">↑</Kbd>
          <Kbd size="xs">↓</Kbd>
          <Hint>{t('commands.move')}</Hint>
          <Kbd size="xs">
            <CornerDownLeft size={10} />
          </Kbd>
          <Hint>{t('commands.choose')}</Hint>
          <Kbd size="xs">Esc</Kbd>
          <Hint>{t('common.close')}</Hint>
        </div>
      </Modal.Content>
    </Modal.Root>
  );
}

function Option({
  id,
  command: { title, hint, icon: Icon },
  isActive,
  onPoint,
  onChoose,
}: {
  id: string;
  command: Command;
  isActive: boolean;
  onPoint: () => void;
  onChoose: () => void;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field above keeps the focus and handles keys
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      className={classes.option}
      onMouseMove={onPoint}
      // The field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <Icon size={16} aria-hidden />
      <span className={classes.title}>{title}</span>
      {hint !== undefined && <span className={classes.hint}>{hint}</span>}
    </div>
  );
}
