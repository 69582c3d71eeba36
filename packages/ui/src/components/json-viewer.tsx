import { Text } from '@mantine/core';
import { type JsonValue, stringifyJson } from '@millrace/engine';
import { ChevronsDownUp, ChevronsUpDown, Copy, Download } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from './icon-button.tsx';
import classes from './json-viewer.module.css';
import { CopyMade } from './json-viewer-copy.tsx';
import { JsonLine } from './json-viewer-line.tsx';
import { AllLines, type JsonLines, type JsonLinesProps, MAX_LINES } from './json-viewer-lines.tsx';
import {
  type JsonPath,
  type JsonRow,
  openAll,
  openAtFirst,
  placeOf,
  placesAbove,
  rowsOf,
} from './json-viewer-rows.ts';
import { SearchField } from './json-viewer-search.tsx';
import { lazyPart } from './lazy-part.tsx';
import { type JsonSearch, useJsonSearch } from './use-json-search.ts';

/** Maximum number of rows expanded initially. */
const FIRST_ROWS = 100;
const MAX_OPEN = 10_000;
/** Values with fewer rows have no search. */
const SEARCH_FROM = 8;
/** Exception: a string too long to show in full. */
const LONG_VALUE = 300;

/** What shows many lines is as large as the rest of the viewer, and few values have many; the first ones are shown meanwhile. */
const LinesInSight = lazyPart<JsonLinesProps>(
  async () => (await import('./json-viewer-many.tsx')).LinesInSight,
  (props) => <AllLines {...props} />,
);

/**
 * A JSON tree with search, copy and download. Only visible rows are rendered, so that values of megabytes stay fast.
 * Arrow keys navigate.
 */
export function JsonViewer({
  value,
  label,
  fileName,
  pathPrefix = '',
  maxHeight = 420,
}: {
  value: JsonValue;
  label: string;
  fileName: string;
  /** Prefix of paths in template syntax: `nodes.fetch.output`. */
  pathPrefix?: string;
  maxHeight?: number;
}) {
  const { t } = useTranslation();
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  // Another one takes its place as soon as there are many lines.
  const [lines, setLines] = useState<JsonLines | null>(null);
  const search = useJsonSearch(value);
  const tree = useTree(value, search, lines);
  const { rows, active, setActive, toggle } = tree;
  const matchPlaces = useMemo(() => new Set(search.found.paths.map(placeOf)), [search.found.paths]);
  const goTo = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setActive(next);
    lines?.scrollTo(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const row = rows[active];
    const step = STEPS[event.key];
    if (step !== undefined) goTo(active + step);
    else if (event.key === 'Home') goTo(0);
    else if (event.key === 'End') goTo(rows.length - 1);
    else if (row !== undefined && row.size !== null && isToggle(event.key, row.isOpen)) toggle(row);
    else if (row !== undefined && event.key === 'ArrowLeft') goTo(parentIndex(rows, row));
    else return;
    event.preventDefault();
  };
  const Lines = rows.length > MAX_LINES ? LinesInSight : AllLines;
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
            <IconButton
              icon={ChevronsUpDown}
              size="sm"
              label={t('executions.json.expandAll')}
              onClick={tree.expand}
            />
            <IconButton
              icon={ChevronsDownUp}
              size="sm"
              label={t('executions.json.collapseAll')}
              onClick={tree.collapse}
            />
          </>
        )}
        {/* Created on demand: serializing megabytes takes a while. */}
        <CopyMade make={() => prettyJson(value)} label={t('executions.json.copy')}>
          <Copy size={14} />
        </CopyMade>
        <IconButton
          icon={Download}
          size="sm"
          label={t('executions.json.download')}
          onClick={() => download(value, fileName)}
        />
      </div>
      {tree.isCut && (
        <Text size="xs" c="dimmed" px={6} py={2} role="status">
          {t('executions.json.openCut', { shown: MAX_OPEN.toLocaleString() })}
        </Text>
      )}
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
        <Lines
          rows={rows}
          frame={frame}
          ref={setLines}
          line={(row, index, place) => (
            <JsonLine
              key={row.place}
              id={`${id}-${index}`}
              index={index}
              row={row}
              place={place}
              pathPrefix={pathPrefix}
              isActive={index === active}
              isMatch={matchPlaces.has(row.place)}
              isCurrent={row.place === tree.currentPlace}
              wanted={search.wanted}
              onToggle={() => {
                setActive(index);
                toggle(row);
              }}
            />
          )}
        />
      </div>
    </div>
  );
}

/** What is open and active in the tree; the current match of a search is opened and scrolled to. */
function useTree(value: JsonValue, { found, index: at, moves }: JsonSearch, lines: JsonLines | null) {
  const [shown, setShown] = useState(value);
  const [open, setOpen] = useState(() => openAtFirst(value, FIRST_ROWS));
  const [active, setActive] = useState(0);
  const [isCut, setIsCut] = useState(false);
  const show = (next: Set<string>) => {
    setOpen(next);
    setActive(0);
    setIsCut(false);
  };
  if (shown !== value) {
    setShown(value);
    show(openAtFirst(value, FIRST_ROWS));
  }
  const rows = useMemo(() => rowsOf(value, open), [value, open]);
  const current = found.paths[at];
  const currentPlace = current === undefined ? null : placeOf(current);

  // A match must be expanded before it can be scrolled to.
  useEffect(() => {
    if (current === undefined) return;
    setOpen((before) => withAncestors(before, current));
  }, [current]);
  const goneTo = useRef('');
  useEffect(() => {
    // Once per search step, so that expanding or collapsing afterwards doesn't scroll away.
    const step = currentPlace === null ? '' : `${moves} ${currentPlace}`;
    if (step === goneTo.current) return;
    const index = currentPlace === null ? -1 : rows.findIndex(({ place }) => place === currentPlace);
    if (index < 0) return;
    setActive(index);
    if (lines?.scrollTo(index) === true) goneTo.current = step;
  }, [currentPlace, moves, rows, lines]);

  return {
    rows,
    active,
    setActive,
    currentPlace,
    /** Whether there was more to open than {@link MAX_OPEN}. */
    isCut,
    toggle: ({ place, isOpen }: JsonRow) =>
      setOpen((before) => {
        const next = new Set(before);
        if (isOpen) next.delete(place);
        else next.add(place);
        return next;
      }),
    expand: () => {
      const all = openAll(value, MAX_OPEN);
      setOpen(all.open);
      setIsCut(!all.isAll);
    },
    collapse: () => show(new Set([''])),
  };
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

function parentIndex(rows: readonly JsonRow[], { parent }: JsonRow): number {
  return rows.findIndex((row) => row.place === (parent?.place ?? ''));
}

function withAncestors(open: Set<string>, path: JsonPath): Set<string> {
  const places = placesAbove(path);
  return places.every((place) => open.has(place)) ? open : new Set([...open, ...places]);
}

/** Indented; numbers beyond double precision are preserved. */
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
