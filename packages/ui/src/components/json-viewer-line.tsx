import { type JsonValue, templateStep } from '@millrace/engine';
import { Braces, ChevronDown, ChevronRight, Copy } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './json-viewer.module.css';
import { CopyMade } from './json-viewer-copy.tsx';
import type { LinePlace } from './json-viewer-lines.tsx';
import { type JsonRow, pathOf, patternOf, plainText } from './json-viewer-rows.ts';

/** Characters of a string shown before it is expanded. */
const SHORT_TEXT = 300;
/** Characters shown when expanded; anything longer is for the download. */
const LONG_TEXT = 100_000;
const INDENT = 14;
/** Levels beyond this are indented by one pixel each, to leave room for the value. */
const INDENTED = 10;
const MAX_INDENT = 190;
/** Characters shown before a match in a long string. */
const BEFORE_MATCH = 60;

export function JsonLine({
  row,
  id,
  index,
  place,
  pathPrefix,
  isActive,
  isMatch,
  isCurrent,
  wanted,
  onToggle,
}: {
  row: JsonRow;
  id: string;
  index: number;
  /** Null: below the one before. */
  place: LinePlace | null;
  pathPrefix: string;
  isActive: boolean;
  isMatch: boolean;
  isCurrent: boolean;
  /** The search text; empty for none. */
  wanted: string;
  onToggle: () => void;
}) {
  const { t } = useTranslation();
  const { name, value, size, isOpen, depth, left } = row;
  const canOpen = size !== null && size > 0;
  const flags = {
    ...(isActive ? { 'data-active': true } : {}),
    ...(isMatch ? { 'data-match': true } : {}),
    ...(isCurrent ? { 'data-current': true } : {}),
  };
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus and names its active line
    <div
      ref={place?.measure}
      data-index={index}
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isActive}
      {...(canOpen ? { 'aria-expanded': isOpen } : {})}
      className={classes.row}
      style={{
        paddingInlineStart: indentOf(depth),
        ...(place === null ? {} : { transform: `translateY(${place.start}px)` }),
      }}
      {...flags}
    >
      {canOpen ? (
        <button
          type="button"
          className={classes.toggle}
          tabIndex={-1}
          aria-label={t(isOpen ? 'executions.json.collapse' : 'executions.json.expand', {
            name: name === null ? '' : nameText(name),
          })}
          onClick={onToggle}
        >
          {isOpen ? <ChevronDown size={12} /> : <ChevronRight size={12} />}
        </button>
      ) : (
        <span className={classes.toggle} />
      )}
      <span className={classes.text}>
        {name !== null && (
          <>
            <bdi className={classes.name}>{nameText(name)}</bdi>
            {': '}
          </>
        )}
        {left > 0 ? (
          <span className={classes.size}>
            {t('executions.json.moreLeft', { shown: left.toLocaleString() })}
          </span>
        ) : size === null ? (
          <Leaf value={value} wanted={isMatch ? wanted : ''} />
        ) : (
          <Size value={value} size={size} />
        )}
      </span>
      {isActive && left === 0 && (
        <span className={classes.tools}>
          <CopyMade
            make={() => (size === null ? plainText(value) : JSON.stringify(value))}
            label={t('executions.json.copyValue')}
          >
            <Copy size={14} />
          </CopyMade>
          <CopyPath text={templateOf(pathPrefix, row)} />
        </span>
      )}
    </div>
  );
}

function Size({ value, size }: { value: JsonValue; size: number }) {
  const { t } = useTranslation();
  const isList = Array.isArray(value);
  const count = isList
    ? t('executions.json.items', { count: size })
    : t('executions.json.members', { count: size });
  const [before, after] = isList ? ['[', ']'] : ['{', '}'];
  return (
    <span className={classes.size}>
      {before}
      {size > 0 && ` ${count} `}
      {after}
    </span>
  );
}

function indentOf(depth: number): number {
  return Math.min(MAX_INDENT, INDENT * Math.min(depth, INDENTED) + Math.max(0, depth - INDENTED));
}

function Leaf({ value, wanted }: { value: JsonValue; wanted: string }) {
  const text = plainText(value);
  if (typeof value === 'string') return <LongText text={text} wanted={wanted} />;
  const kind = typeof value === 'number' || typeof value === 'object' ? 'number' : 'other';
  return <span data-kind={value === null ? 'other' : kind}>{text}</span>;
}

function LongText({ text, wanted }: { text: string; wanted: string }) {
  const { t } = useTranslation();
  const [isLong, setIsLong] = useState(false);
  const match = useMemo(() => (wanted === '' ? null : patternOf(wanted).exec(text)), [text, wanted]);
  const length = match?.[0].length ?? 0;
  const most = isLong ? LONG_TEXT : SHORT_TEXT;
  // A match must be visible however far into a long string it is.
  const from = match !== null && match.index > most - length ? match.index - BEFORE_MATCH : 0;
  const shown = text.slice(from, from + most);
  const isCut = text.length > LONG_TEXT;
  const all = text.length.toLocaleString();
  return (
    <>
      <span data-kind="string">
        "{from > 0 && '…'}
        <bdi>
          <Marked text={shown} at={match === null ? -1 : match.index - from} length={length} />
        </bdi>
        {from + shown.length < text.length && '…'}"
      </span>
      {text.length > SHORT_TEXT && (
        <button type="button" className={classes.more} onClick={() => setIsLong(!isLong)}>
          {isLong
            ? t('executions.json.lessText')
            : isCut
              ? t('executions.json.moreTextPart', { shown: LONG_TEXT.toLocaleString(), all })
              : t('executions.json.moreText', { all })}
        </button>
      )}
      {isLong && isCut && <span className={classes.size}> {t('executions.json.textCut', { all })}</span>}
    </>
  );
}

function Marked({ text, at, length }: { text: string; at: number; length: number }) {
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + length)}</mark>
      {text.slice(at + length)}
    </>
  );
}

/** Copies a value's path in template syntax. */
function CopyPath({ text }: { text: string }) {
  const { t } = useTranslation();
  const label = t('executions.json.copyPath');
  return (
    <CopyMade make={() => text} label={label} hint={`${label}: ${text}`}>
      <Braces size={14} />
    </CopyMade>
  );
}

/** A path in template syntax; only where there is a prefix. */
function templateOf(prefix: string, row: JsonRow): string {
  const path = pathOf(row);
  const text = `${prefix}${path.map(templateStep).join('')}`;
  return prefix === '' ? text.replace(/^\./, '') : `{{${text}}}`;
}

/** Quotes a name that would be ambiguous or invisible. */
function nameText(name: string | number): string {
  if (typeof name === 'number') return String(name);
  if (!/^$|^\s|\s$|\p{C}/u.test(name)) return name;
  return JSON.stringify(name).replace(/\p{C}/gu, (character) =>
    [...character].map((each) => `\\u{${each.codePointAt(0)?.toString(16)}}`).join(''),
  );
}
