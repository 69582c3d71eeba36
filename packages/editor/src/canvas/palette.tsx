import '@millrace/ui/i18n/parts/canvas.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/service/whole.ts';
import { CloseButton, Group, Kbd, Paper, ScrollArea, TextInput } from '@mantine/core';
import { useClickOutside } from '@mantine/hooks';
import { isWhole, type NodeType } from '@millrace/editor-model/editor-state.ts';
import { FALLBACK_TYPE, isNamedGroup, listTypes } from '@millrace/editor-model/list-types.ts';
import { kindClass } from '@millrace/editor-model/node-classes.ts';
import { recentTypes } from '@millrace/editor-model/recent-types.ts';
import { useEditor } from '@millrace/editor-model/store.ts';
import { ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import type { TFunction } from 'i18next';
import { Search } from 'lucide-react';
import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useTranslation } from 'react-i18next';
import type { PaletteRequest } from './canvas-actions.ts';
import { DRAGGED_TYPE } from './drag-actions.ts';
import { NodeIcon } from './node-icon.tsx';
// Every icon comes with the palette, which is there when the connection is lost.
import './rare-icon.tsx';
import { useWholeTypes } from './use-connectors.ts';

const STEPS: { readonly [key: string]: number | undefined } = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 8,
  PageUp: -8,
};

/** Node types to choose from: by search, arrow keys and Enter, or by dragging. */
export function Palette({
  request,
  replaced,
  search,
  onSearch: setSearch,
  onChoose,
  onChooseService,
  onClose,
}: {
  request: PaletteRequest;
  /** The trigger that another is chosen for; null: a node is added. */
  replaced: string | null;
  search: string;
  onSearch: (search: string) => void;
  onChoose: (type: string) => void;
  /** Chosen because no node fits the search. */
  onChooseService: (type: string, search: string) => void;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const listId = useId();
  const nodeTypes = useEditor((state) => state.nodeTypes);
  const former = useEditor(({ nodes }) =>
    replaced === null ? null : (nodes.find(({ id }) => id === replaced)?.type ?? ''),
  );
  const hasTrigger = useEditor(({ nodes }) =>
    nodes.some(({ type }) => nodeTypes.get(type)?.kind === 'trigger'),
  );
  const [at, setAt] = useState(0);
  const whole = useWholeTypes({ ofConnectors: true });
  const { areLoading } = whole;
  /** Enter was pressed while what fits best may not have loaded yet. */
  const [isEntered, setEntered] = useState(false);
  const [recent] = useState(recentTypes);
  const list = useRef<HTMLDivElement>(null);
  const frame = useClickOutside(onClose);
  const isReplacing = replaced !== null;
  const isJoined = request.place !== undefined && !('at' in request.place && !('after' in request.place));
  const { groups, isFallback } = useMemo(
    () => listTypes(nodeTypes, search, { isJoined, hasTrigger, former, recent, areLoading }),
    [nodeTypes, search, isJoined, hasTrigger, former, recent, areLoading],
  );
  const found = groups.flatMap(({ types }) => types);
  const last = found.length - 1;
  const active = found[Math.min(at, last)];
  const choose = (type: string) => (isFallback ? onChooseService(type, search) : onChoose(type));

  useEffect(() => {
    list.current
      ?.querySelector(`[data-type="${CSS.escape(active?.type ?? '')}"]`)
      ?.scrollIntoView({ block: 'nearest' });
  }, [active]);

  const chooseAwaited = useEffectEvent(() => {
    setEntered(false);
    if (whole.error === null && active !== undefined) choose(active.type);
  });
  useEffect(() => {
    if (!isEntered || areLoading) return;
    // The editor's own effect, which runs after this one, puts what has loaded into the store: only then can it be listed and added.
    const timer = setTimeout(() => chooseAwaited());
    return () => clearTimeout(timer);
  }, [isEntered, areLoading]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = STEPS[event.key];
    if (step !== undefined) {
      setAt(Math.max(0, Math.min(last, Math.min(at, last) + step)));
      setEntered(false);
    } else if (event.key === 'Enter' && areLoading && search.trim() !== '') setEntered(true);
    else if (event.key === 'Enter' && active !== undefined) choose(active.type);
    else if (event.key === 'Escape') {
      event.stopPropagation();
      onClose();
    } else return;
    event.preventDefault();
  };
  const title = titleOf(request, isReplacing, t);
  return (
    <Paper ref={frame} withBorder shadow="md" className="flow-palette" role="dialog" aria-label={title}>
      <Group p="xs" gap="xs" wrap="nowrap">
        <TextInput
          flex={1}
          autoFocus
          role="combobox"
          aria-expanded
          aria-controls={listId}
          aria-activedescendant={active === undefined ? undefined : `${listId}-${active.type}`}
          aria-label={title}
          placeholder={t('editor.searchNodes')}
          leftSection={<Search size={14} />}
          value={search}
          onChange={({ currentTarget }) => {
            setSearch(currentTarget.value);
            setAt(0);
            setEntered(false);
          }}
          onKeyDown={onKeyDown}
        />
        <CloseButton size="sm" aria-label={t('common.close')} onClick={onClose} />
      </Group>
      <ScrollArea.Autosize mah="min(60vh, 440px)" type="auto" scrollbars="y" viewportRef={list}>
        {isFallback && (
          <Muted p="xs" pb={0} role="status">
            {t('editor.useHttp', { search: search.trim() })}
          </Muted>
        )}
        <div role="listbox" id={listId} aria-label={title}>
          {groups.map(({ group, types }) => (
            <PaletteGroup key={group} group={group}>
              {types.map((type) => (
                <PaletteItem
                  key={type.type}
                  id={`${listId}-${type.type}`}
                  type={type}
                  isActive={type === active}
                  onPoint={() => setAt(found.indexOf(type))}
                  isDraggable={!isReplacing}
                  onChoose={() => choose(type.type)}
                  onDragged={onClose}
                />
              ))}
            </PaletteGroup>
          ))}
        </div>
        <Missing whole={whole} search={search} isEmpty={found.length === 0} isAwaited={isEntered} />
      </ScrollArea.Autosize>
      <Group p={6} px="xs" gap={6} className="flow-palette-foot" visibleFrom="sm">
        <Kbd size="xs">↑</Kbd>
        <Kbd size="xs">↓</Kbd>
        <Kbd size="xs">Enter</Kbd>
        {!isReplacing && <Hint>{t('editor.paletteHint')}</Hint>}
      </Group>
    </Paper>
  );
}

/** Why types are missing from the list: there are none, or they are loading, or couldn't be loaded. */
function Missing({
  whole,
  search,
  isEmpty,
  isAwaited,
}: {
  whole: ReturnType<typeof useWholeTypes>;
  search: string;
  isEmpty: boolean;
  isAwaited: boolean;
}) {
  const { t } = useTranslation();
  const isLoaded = useEditor(({ nodeTypes }) => isWhole(nodeTypes.get(FALLBACK_TYPE)));
  if (whole.error !== null) return <ErrorState error={whole.error} onRetry={whole.retry} />;
  if (isAwaited || (isEmpty && (!isLoaded || whole.areLoading))) return <LoadingRows />;
  if (!isEmpty) return null;
  return (
    <Muted p="sm" ta="center" role="status">
      {t('editor.noNodes', { search })}
    </Muted>
  );
}

function titleOf({ place }: PaletteRequest, isReplacing: boolean, t: TFunction): string {
  if (isReplacing) return t('editor.changeTrigger');
  if (place === undefined || 'at' in place) return t('editor.addNode');
  return 'onEdge' in place ? t('editor.insertHere') : t('editor.addAfter');
}

function PaletteGroup({ group, children }: { group: string; children: ReactNode }) {
  const { t } = useTranslation();
  const name = isNamedGroup(group) ? t(`editor.group.${group}`) : group;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of options, not of fields
    <div role="group" aria-label={name}>
      <Hint fw={600} px="xs" pt={6} pb={2} aria-hidden>
        {name}
      </Hint>
      {children}
    </div>
  );
}

function PaletteItem({
  id,
  type,
  isActive,
  isDraggable,
  onPoint,
  onChoose,
  onDragged,
}: {
  id: string;
  type: NodeType;
  isActive: boolean;
  isDraggable: boolean;
  onPoint: () => void;
  onChoose: () => void;
  onDragged: () => void;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field above keeps the focus and handles keys
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      data-type={type.type}
      className={`flow-palette-item ${isActive ? 'is-active' : ''}`}
      draggable={isDraggable}
      onDragStart={(event) => {
        event.dataTransfer.setData(DRAGGED_TYPE, type.type);
        event.dataTransfer.effectAllowed = 'copy';
      }}
      onDragEnd={({ dataTransfer }) => {
        if (dataTransfer.dropEffect === 'copy') onDragged();
      }}
      onMouseMove={onPoint}
      onClick={onChoose}
    >
      <span className={`flow-node-icon ${kindClass(type)}`}>
        <NodeIcon name={type.icon} />
      </span>
      <span className="flow-palette-text">
        <span className="flow-node-title">{type.title}</span>
        <br />
        <span className="flow-palette-about">{type.description.replaceAll('`', '')}</span>
      </span>
    </div>
  );
}
