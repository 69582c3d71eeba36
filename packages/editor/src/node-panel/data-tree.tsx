import { ActionIcon, Group, Text, TextInput, UnstyledButton } from '@mantine/core';
import { titleOf } from '@millrace/editor-model/flow-value.ts';
import { type DataSource, membersOf, type PathHint, showValue } from '@millrace/editor-model/known-values.ts';
import { useEditor, useEditorState } from '@millrace/editor-model/store.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '@millrace/engine';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Braces, ChevronRight, Search } from 'lucide-react';
import { useContext, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../form/form-context.tsx';
import { dragPath, InsertTargetContext } from '../form/insert-target.ts';

/** Triggers whose panel listens for a call. */
const LISTENING = new Set(['trigger.webhook', 'trigger.form', 'trigger.chat']);

/** Rows that are open at first; what is deeper opens on a click. */
const FIRST_ROWS = 60;
/** Of a list; the others look the same. */
const MAX_ITEMS = 20;
/** Found by searching; more would not be read. */
const MAX_FOUND = 100;
/** Values looked at when searching: what a large output has beyond is not searched. */
const MAX_SEARCHED = 5_000;

/** What a node's templates can read, as a tree: a click inserts a path into the field used last. */
export function DataTree() {
  const { t } = useTranslation();
  const { sources } = useForm();
  const [search, setSearch] = useState('');
  const all = useMemo(() => sources?.() ?? [], [sources]);
  const open = useMemo(() => openAtFirst(all), [all]);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const toggle = (path: string) =>
    setToggled((before) =>
      before.has(path) ? new Set([...before].filter((each) => each !== path)) : new Set([...before, path]),
    );
  const isOpen = (path: string) => open.has(path) !== toggled.has(path);
  return (
    <div className="data-tree">
      <TextInput
        size="xs"
        aria-label={t('forms.data.search')}
        placeholder={t('forms.data.search')}
        leftSection={<Search size={12} aria-hidden />}
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      {search.trim() === '' ? (
        <ul>
          {all.map((source) => (
            <Branch
              key={source.path}
              parent={null}
              hint={source}
              source={source}
              isOpen={isOpen}
              onToggle={toggle}
            />
          ))}
        </ul>
      ) : (
        <Found sources={all} search={search.trim()} />
      )}
    </div>
  );
}

interface BranchProps {
  hint: PathHint;
  /** Null at the top. */
  parent: string | null;
  source: DataSource;
  isOpen: (path: string) => boolean;
  onToggle: (path: string) => void;
}

function Branch({ hint, parent, source, isOpen, onToggle }: BranchProps) {
  const { t } = useTranslation();
  const { path, value } = hint;
  const members = membersOf(hint, MAX_ITEMS);
  const isRoot = parent === null;
  const title = useTitle(source);
  const name = isRoot ? title : nameBelow(parent, path);
  const isShown = members.length > 0 && isOpen(path);
  const rest = value !== undefined && value !== null && isJsonArray(value) ? value.length - MAX_ITEMS : 0;
  return (
    <li>
      {members.length === 0 ? (
        <Leaf hint={hint} name={name} isExample={source.isExample} isRoot={isRoot} />
      ) : (
        <Group gap={2} wrap="nowrap" className="data-tree-row">
          <UnstyledButton className="data-tree-branch" aria-expanded={isShown} onClick={() => onToggle(path)}>
            <ChevronRight
              size={12}
              aria-hidden
              style={{ flex: 'none', transform: isShown ? 'rotate(90deg)' : undefined }}
            />
            <Text span size="xs" fw={isRoot ? 600 : 400} truncate>
              {name}
            </Text>
            {!isShown && !source.isExample && <Hint span>{countOf(value)}</Hint>}
          </UnstyledButton>
          <InsertButton path={path} />
        </Group>
      )}
      {isRoot && source.isExample && (
        <Hint pl={16}>
          {t(path.startsWith('trigger.') ? 'forms.data.exampleOfStart' : 'forms.data.example')}
        </Hint>
      )}
      {isShown && (
        <ul>
          {members.map((member) => (
            <Branch
              key={member.path}
              parent={path}
              hint={member}
              source={source}
              isOpen={isOpen}
              onToggle={onToggle}
            />
          ))}
          {rest > 0 && (
            <li>
              <Hint pl={16}>{t('forms.data.moreItems', { count: rest })}</Hint>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

/** A whole object or list. */
function InsertButton({ path }: { path: string }) {
  const { t } = useTranslation();
  const insert = useInsert();
  return (
    <ActionIcon
      size="xs"
      className="data-tree-insert"
      aria-label={t('forms.data.insert', { path })}
      title={t('forms.data.insert', { path })}
      disabled={insert === null}
      draggable
      onDragStart={({ dataTransfer }) => dragPath(dataTransfer, path)}
      onClick={() => insert?.(path)}
    >
      <Braces size={12} aria-hidden />
    </ActionIcon>
  );
}

function Leaf({
  hint: { path, value },
  name,
  isExample,
  isRoot = false,
}: {
  hint: PathHint;
  name: string;
  isExample: boolean;
  isRoot?: boolean;
}) {
  const { t } = useTranslation();
  const insert = useInsert();
  const canListen = useEditor(({ nodes }) => nodes.some(({ type }) => LISTENING.has(type)));
  const isKnown = value !== undefined && !isExample && !(isRoot && value === null);
  return (
    <UnstyledButton
      className="data-tree-leaf"
      title={t('forms.data.insert', { path })}
      disabled={insert === null}
      draggable
      onDragStart={({ dataTransfer }) => dragPath(dataTransfer, path)}
      onClick={() => insert?.(path)}
    >
      <Text span size="xs" fw={isRoot ? 600 : 400}>
        {name}
      </Text>
      {isKnown ? (
        <Text component="code" size="xs" c="dimmed" ff="monospace" truncate>
          {typeof value === 'string' ? value : showValue(value)}
        </Text>
      ) : (
        isRoot && (
          <Hint span>
            {t(path === 'trigger.data' && canListen ? 'forms.data.noSample' : 'forms.data.notRun')}
          </Hint>
        )
      )}
    </UnstyledButton>
  );
}

/** Every value whose name contains the search. */
function Found({ sources, search }: { sources: readonly DataSource[]; search: string }) {
  const { t } = useTranslation();
  const found = useMemo(() => findPaths(sources, search.toLowerCase()), [sources, search]);
  if (found.length === 0) return <Muted role="status">{t('forms.data.nothing', { search })}</Muted>;
  return (
    <ul>
      {found.map(({ hint, isExample }) => (
        <li key={hint.path}>
          <Leaf hint={hint} name={hint.path} isExample={isExample} />
        </li>
      ))}
    </ul>
  );
}

/** Inserts into the field used last; null where nothing can be changed. */
function useInsert(): ((path: string) => void) | null {
  const targets = useContext(InsertTargetContext);
  const { isReadOnly } = useForm();
  if (targets === null || isReadOnly) return null;
  return (path) => targets.current()?.insert(path);
}

/** The node's title, for what comes from a node. */
function useTitle({ path, nodeId }: DataSource): string {
  const { nodes, nodeTypes } = useEditorState('nodes', 'nodeTypes');
  const node = nodes.find(({ id }) => id === nodeId);
  return node === undefined ? path : titleOf(node, nodeTypes);
}

/** The last part of a path: `name`, `two words`, `[0]`. */
function nameBelow(parent: string, path: string): string {
  const rest = path.slice(parent.length);
  const quoted = /^\["(.*)"\]$/s.exec(rest)?.[1];
  return quoted ?? rest.replace(/^\./, '');
}

function countOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (isJsonArray(value)) return `[${value.length}]`;
  return isJsonObject(value) ? `{${Object.keys(value).length}}` : '';
}

/** Branches that are open at first: breadth first, as long as there is room. */
function openAtFirst(sources: readonly DataSource[]): ReadonlySet<string> {
  const open = new Set<string>();
  let rows = sources.length;
  let level: readonly PathHint[] = sources;
  while (level.length > 0) {
    const next: PathHint[] = [];
    for (const hint of level) {
      const members = membersOf(hint, MAX_ITEMS);
      if (members.length === 0 || rows + members.length > FIRST_ROWS) continue;
      rows += members.length;
      open.add(hint.path);
      next.push(...members);
    }
    level = next;
  }
  return open;
}

interface FoundPath {
  readonly hint: PathHint;
  readonly isExample: boolean;
}

function findPaths(sources: readonly DataSource[], search: string): readonly FoundPath[] {
  const found: FoundPath[] = [];
  let looked = 0;
  for (const { isExample, ...source } of sources) {
    const waiting: PathHint[] = [source];
    for (let hint = waiting.shift(); hint !== undefined; hint = waiting.shift()) {
      looked += 1;
      if (looked > MAX_SEARCHED || found.length >= MAX_FOUND) return found;
      if (hint.path.slice(source.path.length).toLowerCase().includes(search)) found.push({ hint, isExample });
      waiting.push(...membersOf(hint, MAX_ITEMS));
    }
  }
  return found;
}
