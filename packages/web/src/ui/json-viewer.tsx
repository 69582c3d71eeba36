import { ActionIcon, Text, TextInput, Tooltip } from '@mantine/core';
import { useClipboard, useDebouncedValue } from '@mantine/hooks';
import { type JsonValue, stringifyJson } from '@millrace/engine';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  Check,
  ChevronDown,
  ChevronsDownUp,
  ChevronsUpDown,
  ChevronUp,
  Copy,
  Download,
  Search,
} from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './json-viewer.module.css';
import { JsonLine } from './json-viewer-line.tsx';
import {
  findMatches,
  type JsonPath,
  type JsonRow,
  openAll,
  openAtFirst,
  placeOf,
  rowsOf,
} from './json-viewer-rows.ts';

/** Lines that are open at first, at most. */
const FIRST_ROWS = 100;
const MAX_OPEN = 20_000;
const MAX_MATCHES = 1_000;
const TYPING_PAUSE_MS = 200;
const LINE_HEIGHT = 20;
/** Below this many lines there is nothing to search. */
const SEARCH_FROM = 8;
/** But for a text that does not show as a whole. */
const LONG_VALUE = 300;

/**
 * JSON as a tree, with search, copy and download. Only the lines in sight are drawn, so that a value of megabytes is no
 * burden. Arrow keys go through it.
 */
export function JsonViewer({
  value,
  label,
  fileName,
  pathPrefix = '',
  maxHeight = 420,
}: {
  readonly value: JsonValue;
  readonly label: string;
  readonly fileName: string;
  /** What templates write in front of a path: `nodes.fetch.output`. */
  readonly pathPrefix?: string;
  readonly maxHeight?: number;
}) {
  const { t } = useTranslation();
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState(value);
  const [open, setOpen] = useState(() => openAtFirst(value, FIRST_ROWS));
  const [active, setActive] = useState(0);
  if (shown !== value) {
    setShown(value);
    setOpen(openAtFirst(value, FIRST_ROWS));
    setActive(0);
  }
  const rows = useMemo(() => rowsOf(value, open), [value, open]);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 12,
    getItemKey: (index) => rows[index]?.place ?? index,
  });
  const search = useSearch(value);
  const current = search.matches[search.at];
  const currentPlace = current === undefined ? null : placeOf(current);
  const matchPlaces = useMemo(() => new Set(search.matches.map(placeOf)), [search.matches]);

  // What is found has to be open before it can be gone to.
  useEffect(() => {
    if (current === undefined) return;
    setOpen((before) => withAncestors(before, current));
  }, [current]);
  useEffect(() => {
    const index = currentPlace === null ? -1 : rows.findIndex(({ place }) => place === currentPlace);
    if (index < 0) return;
    setActive(index);
    virtualizer.scrollToIndex(index, { align: 'auto' });
  }, [currentPlace, rows, virtualizer]);

  const toggle = ({ place, isOpen }: JsonRow) =>
    setOpen((before) => {
      const next = new Set(before);
      if (isOpen) next.delete(place);
      else next.add(place);
      return next;
    });
  const goTo = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setActive(next);
    virtualizer.scrollToIndex(next, { align: 'auto' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const row = rows[active];
    const step = STEPS[event.key];
    if (step !== undefined) goTo(active + step);
    else if (event.key === 'Home') goTo(0);
    else if (event.key === 'End') goTo(rows.length - 1);
    else if (row !== undefined && row.size !== null && isToggle(event.key, row.isOpen)) toggle(row);
    else if (row !== undefined && event.key === 'ArrowLeft') goTo(parentIndex(rows, row.path));
    else return;
    event.preventDefault();
  };
  const hasTools =
    rows.length >= SEARCH_FROM ||
    rows.some(({ value: each, size, isOpen }) =>
      size === null ? typeof each === 'string' && each.length > LONG_VALUE : size > 0 && !isOpen,
    );
  return (
    <div className={classes.frame}>
      <div className={classes.bar} role="toolbar" aria-label={label}>
        {hasTools && <SearchField search={search} />}
        <span style={{ flex: 1 }} />
        {hasTools && (
          <>
            <Tool label={t('executions.json.expandAll')} onClick={() => setOpen(openAll(value, MAX_OPEN))}>
              <ChevronsUpDown size={14} />
            </Tool>
            <Tool label={t('executions.json.collapseAll')} onClick={() => setOpen(new Set(['']))}>
              <ChevronsDownUp size={14} />
            </Tool>
          </>
        )}
        <CopyWhole value={value} />
        <Tool label={t('executions.json.download')} onClick={() => download(value, fileName)}>
          <Download size={14} />
        </Tool>
      </div>
      <div
        ref={frame}
        className={classes.scroll}
        style={{ maxHeight }}
        role="tree"
        aria-label={label}
        aria-activedescendant={`${id}-${active}`}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <div style={{ height: virtualizer.getTotalSize(), position: 'relative' }}>
          {virtualizer.getVirtualItems().map(({ index, start, key }) => {
            const row = rows[index];
            return row === undefined ? null : (
              <JsonLine
                key={key}
                id={`${id}-${index}`}
                index={index}
                measure={virtualizer.measureElement}
                row={row}
                start={start}
                pathPrefix={pathPrefix}
                isActive={index === active}
                isMatch={matchPlaces.has(row.place)}
                isCurrent={row.place === currentPlace}
                wanted={search.wanted.toLowerCase()}
                onToggle={() => {
                  setActive(index);
                  toggle(row);
                }}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

const STEPS: { readonly [key: string]: number | undefined } = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 15,
  PageUp: -15,
};

function isToggle(key: string, isOpen: boolean): boolean {
  return key === 'Enter' || key === ' ' || key === (isOpen ? 'ArrowLeft' : 'ArrowRight');
}

function parentIndex(rows: readonly JsonRow[], path: JsonPath): number {
  const place = placeOf(path.slice(0, -1));
  return rows.findIndex((row) => row.place === place);
}

function withAncestors(open: Set<string>, path: JsonPath): Set<string> {
  const places = path.map((_, index) => placeOf(path.slice(0, index)));
  return places.every((place) => open.has(place)) ? open : new Set([...open, ...places]);
}

function useSearch(value: JsonValue) {
  const [text, setText] = useState('');
  const [wanted] = useDebouncedValue(text, TYPING_PAUSE_MS);
  const matches = useMemo(() => findMatches(value, wanted, MAX_MATCHES), [value, wanted]);
  const [at, setAt] = useState(0);
  const [searched, setSearched] = useState(matches);
  if (searched !== matches) {
    setSearched(matches);
    setAt(0);
  }
  const go = (by: number) => setAt((before) => (before + by + matches.length) % Math.max(1, matches.length));
  return { text, setText, wanted, matches, at, go };
}

function SearchField({ search }: { readonly search: ReturnType<typeof useSearch> }) {
  const { t } = useTranslation();
  const { text, setText, wanted, matches, at, go } = search;
  return (
    <>
      <TextInput
        size="xs"
        w={150}
        aria-label={t('executions.json.search')}
        placeholder={t('executions.json.search')}
        leftSection={<Search size={12} aria-hidden />}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={({ key, shiftKey }) => {
          if (key === 'Enter') go(shiftKey ? -1 : 1);
        }}
      />
      {wanted !== '' && (
        <>
          <Text
            size="xs"
            c="dimmed"
            role="status"
            {...(matches.length === MAX_MATCHES
              ? { title: t('executions.json.tooMany', { count: MAX_MATCHES }) }
              : {})}
          >
            {matches.length === 0
              ? t('executions.json.noMatch')
              : t('executions.json.matches', { at: at + 1, count: matches.length })}
          </Text>
          <Tool label={t('executions.json.previous')} onClick={() => go(-1)} isDisabled={matches.length < 2}>
            <ChevronUp size={14} />
          </Tool>
          <Tool label={t('executions.json.next')} onClick={() => go(1)} isDisabled={matches.length < 2}>
            <ChevronDown size={14} />
          </Tool>
        </>
      )}
    </>
  );
}

function Tool({
  label,
  onClick,
  isDisabled = false,
  children,
}: {
  readonly label: string;
  readonly onClick: () => void;
  readonly isDisabled?: boolean;
  readonly children: React.ReactNode;
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon size="sm" aria-label={label} onClick={onClick} disabled={isDisabled}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

/** The text is made when it is wanted: of megabytes it takes a while. */
function CopyWhole({ value }: { readonly value: JsonValue }) {
  const { t } = useTranslation();
  const clipboard = useClipboard({ timeout: 2_000 });
  return (
    <Tool
      label={t(clipboard.copied ? 'common.copied' : 'executions.json.copy')}
      onClick={() => clipboard.copy(prettyJson(value))}
    >
      {clipboard.copied ? <Check size={14} /> : <Copy size={14} />}
    </Tool>
  );
}

/** With line breaks; numbers that no double can hold stay as they are. */
function prettyJson(value: JsonValue): string {
  return JSON.stringify(value, null, 2) ?? stringifyJson(value);
}

function download(value: JsonValue, fileName: string): void {
  const address = URL.createObjectURL(new Blob([prettyJson(value)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
