import '@millrace/ui/i18n/parts/canvas.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/service/whole.ts';
import { CloseButton, Group, Kbd, Paper, ScrollArea, TextInput } from '@mantine/core';
import { useClickOutside } from '@mantine/hooks';
import { isWhole, type KnownType, type NodeType } from '@millrace/editor-model/editor-state.ts';
import { type FoundGroup, findTypes } from '@millrace/editor-model/find-types.ts';
import { kindClass } from '@millrace/editor-model/node-classes.ts';
import { recentTypes } from '@millrace/editor-model/recent-types.ts';
import { useEditor } from '@millrace/editor-model/store.ts';
import { ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Search } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { DRAGGED_TYPE, type PaletteRequest } from './canvas-actions.ts';
import { NodeIcon } from './node-icon.tsx';
// Every icon comes with the palette, which is there when the connection is lost.
import './rare-icon.tsx';
import { useWholeTypes } from './use-connectors.ts';

/** Groups with a translated name, in display order; types of other groups follow under the group's own name. */
const GROUPS = [
  'recent',
  'trigger',
  'core',
  'wait',
  'webhook',
  'flow',
  'http',
  'data',
  'sql',
  'chat',
  'email',
  'ai',
] as const;
type GroupName = (typeof GROUPS)[number];

/** Node types to choose from: by search, arrow keys and Enter, or by dragging. */
export function Palette({
  request,
  replaced,
  search,
  onSearch: setSearch,
  onChoose: onChooseType,
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
  const whole = useWholeTypes({ ofConnectors: true });
  const [at, setAt] = useState(0);
  const [recent] = useState(recentTypes);
  const list = useRef<HTMLDivElement>(null);
  const frame = useClickOutside(onClose);
  const isReplacing = replaced !== null;
  // Triggers have no incoming edges.
  const isJoined = request.place !== undefined && !('at' in request.place && !('after' in request.place));
  const { groups, isFallback } = useMemo(
    () => listTypes(nodeTypes, search, { isJoined, hasTrigger, former }, recent),
    [nodeTypes, search, isJoined, hasTrigger, former, recent],
  );
  const found = groups.flatMap(({ types }) => types);
  const active = found[Math.min(at, found.length - 1)];
  const onChoose = (type: string) => (isFallback ? onChooseService(type, search) : onChooseType(type));

  useEffect(() => {
    list.current
      ?.querySelector(`[data-type="${CSS.escape(active?.type ?? '')}"]`)
      ?.scrollIntoView({ block: 'nearest' });
  }, [active]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(found.length - 1, Math.min(at, found.length - 1) + step)));
    } else if (event.key === 'Enter' && active !== undefined) {
      event.preventDefault();
      onChoose(active.type);
    } else if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      onClose();
    }
  };
  const title = isReplacing
    ? t('editor.changeTrigger')
    : request.place === undefined || 'at' in request.place
      ? t('editor.addNode')
      : 'onEdge' in request.place
        ? t('editor.insertHere')
        : t('editor.addAfter');
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
            // biome-ignore lint/a11y/useSemanticElements: a group of options, not of fields
            <div key={group} role="group" aria-label={groupName(group)}>
              <Hint fw={600} px="xs" pt={6} pb={2} aria-hidden>
                {groupName(group)}
              </Hint>
              {types.map((type) => (
                <PaletteItem
                  key={type.type}
                  id={`${listId}-${type.type}`}
                  type={type}
                  isActive={type === active}
                  onPoint={() => setAt(found.indexOf(type))}
                  isDraggable={!isReplacing}
                  onChoose={() => onChoose(type.type)}
                  onDragged={onClose}
                />
              ))}
            </div>
          ))}
        </div>
        {whole.error !== null ? (
          <ErrorState error={whole.error} onRetry={whole.retry} />
        ) : (
          found.length === 0 &&
          (isWhole(nodeTypes.get(FALLBACK)) ? (
            <Muted p="sm" ta="center" role="status">
              {t('editor.noNodes', { search })}
            </Muted>
          ) : (
            <LoadingRows />
          ))
        )}
      </ScrollArea.Autosize>
      <Group p={6} px="xs" gap={6} className="flow-palette-foot" visibleFrom="sm">
        <Kbd size="xs">↑</Kbd>
        <Kbd size="xs">↓</Kbd>
        <Kbd size="xs">Enter</Kbd>
        {!isReplacing && <Hint>{t('editor.paletteHint')}</Hint>}
      </Group>
    </Paper>
  );

  function groupName(group: string): string {
    return GROUPS.includes(group as GroupName) ? t(`editor.group.${group as GroupName}`) : group;
  }
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

/** Calls whatever has no node of its own. */
const FALLBACK = 'http.request';

/**
 * Types to offer; if none fits the search, the one that can call anything.
 * @param former type of the trigger to be replaced, for which only other triggers are offered; null: none
 */
function listTypes(
  nodeTypes: ReadonlyMap<string, KnownType>,
  search: string,
  {
    isJoined,
    hasTrigger,
    former,
  }: { readonly isJoined: boolean; readonly hasTrigger: boolean; readonly former: string | null },
  recent: readonly string[],
): { readonly groups: readonly FoundGroup[]; readonly isFallback: boolean } {
  const isReplacing = former !== null;
  const all = [...nodeTypes.values()]
    .filter(isWhole)
    .filter(({ is_replaced: isReplaced }) => isReplaced !== true)
    .filter(({ kind, type }) =>
      isReplacing ? kind === 'trigger' && type !== former : kind !== 'trigger' || !isJoined,
    );
  // Who has a trigger rather looks for what comes after it.
  const groups = findTypes(all, search, { putsTriggersLast: hasTrigger });
  const other = nodeTypes.get(FALLBACK);
  if (groups.length === 0 && isWhole(other) && !isReplacing)
    return { groups: [{ group: other.group, types: [other] }], isFallback: true };
  // While searching, the best match comes first whatever its group.
  if (search.trim() !== '') return { groups, isFallback: false };
  const rank = (group: string) => (GROUPS as readonly string[]).indexOf(group) >>> 0;
  const used = recent.flatMap((type) => all.find((each) => each.type === type) ?? []);
  const others = groups
    .map(({ group, types }) => ({ group, types: types.filter((type) => !used.includes(type)) }))
    .filter(({ types }) => types.length > 0)
    .toSorted((a, b) => rank(a.group) - rank(b.group));
  const isNew = used.length === 0;
  return { groups: isNew ? others : [{ group: 'recent', types: used }, ...others], isFallback: false };
}
