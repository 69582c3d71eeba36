import { ActionIcon, CopyButton, Tooltip } from '@mantine/core';
import type { JsonValue } from '@millrace/engine';
import { Braces, Check, ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyIcon } from './copy.tsx';
import classes from './json-viewer.module.css';
import { type JsonPath, type JsonRow, plainText } from './json-viewer-rows.ts';

/** Characters of a text that show before somebody asks for all. */
const SHORT_TEXT = 300;
/** And then: a line of megabytes is for the download. */
const LONG_TEXT = 100_000;
const INDENT = 14;
/** What is deeper than this many levels is moved by a pixel each: there must be room for the value. */
const INDENTED = 10;
const MAX_INDENT = 190;
/** Characters in front of what was found in a long text. */
const BEFORE_MATCH = 60;

/** One line of the viewer. */
export function JsonLine({
  row,
  id,
  index,
  start,
  measure,
  pathPrefix,
  isActive,
  isMatch,
  isCurrent,
  wanted,
  onToggle,
}: {
  readonly row: JsonRow;
  readonly id: string;
  readonly index: number;
  readonly start: number;
  readonly measure: (element: Element | null) => void;
  readonly pathPrefix: string;
  readonly isActive: boolean;
  readonly isMatch: boolean;
  readonly isCurrent: boolean;
  /** What is searched for, in lower case; empty for nothing. */
  readonly wanted: string;
  readonly onToggle: () => void;
}) {
  const { t } = useTranslation();
  const { name, value, size, isOpen, path } = row;
  const canOpen = size !== null && size > 0;
  const flags = {
    ...(isActive ? { 'data-active': true } : {}),
    ...(isMatch ? { 'data-match': true } : {}),
    ...(isCurrent ? { 'data-current': true } : {}),
  };
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus and names its active line
    <div
      ref={measure}
      data-index={index}
      id={id}
      role="treeitem"
      aria-level={path.length + 1}
      aria-selected={isActive}
      {...(canOpen ? { 'aria-expanded': isOpen } : {})}
      className={classes.row}
      style={{ transform: `translateY(${start}px)`, paddingInlineStart: indentOf(path.length) }}
      {...flags}
    >
      {canOpen ? (
        <button
          type="button"
          className={classes.toggle}
          tabIndex={-1}
          aria-label={t(isOpen ? 'executions.json.collapse' : 'executions.json.expand', { name: name ?? '' })}
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
            <span className={classes.name}>{name}</span>
            {': '}
          </>
        )}
        {size === null ? (
          <Leaf value={value} wanted={isMatch ? wanted : ''} />
        ) : (
          <Size value={value} size={size} />
        )}
      </span>
      {isActive && (
        <span className={classes.tools}>
          <CopyIcon
            text={size === null ? plainText(value) : JSON.stringify(value)}
            label={t('executions.json.copyValue')}
          />
          <CopyPath text={templateOf(pathPrefix, path)} />
        </span>
      )}
    </div>
  );
}

function Size({ value, size }: { readonly value: JsonValue; readonly size: number }) {
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

function Leaf({ value, wanted }: { readonly value: JsonValue; readonly wanted: string }) {
  const { t } = useTranslation();
  const [isLong, setIsLong] = useState(false);
  const text = plainText(value);
  if (typeof value !== 'string') {
    const kind = typeof value === 'number' || typeof value === 'object' ? 'number' : 'other';
    return <span data-kind={value === null ? 'other' : kind}>{text}</span>;
  }
  const matchAt = wanted === '' ? -1 : text.toLowerCase().indexOf(wanted);
  // What was found must be in sight, however far down a long text it is.
  const from = matchAt > SHORT_TEXT - wanted.length && !isLong ? matchAt - BEFORE_MATCH : 0;
  const shown = text.slice(from, from + (isLong ? LONG_TEXT : SHORT_TEXT));
  return (
    <>
      <span data-kind="string">
        "{from > 0 && '…'}
        <Marked text={shown} at={matchAt < 0 ? -1 : matchAt - from} length={wanted.length} />
        {from + shown.length < text.length && '…'}"
      </span>
      {text.length > SHORT_TEXT && (
        <button type="button" className={classes.more} onClick={() => setIsLong(!isLong)}>
          {isLong ? t('executions.json.lessText') : t('executions.json.moreText', { count: text.length })}
        </button>
      )}
    </>
  );
}

function Marked({
  text,
  at,
  length,
}: {
  readonly text: string;
  readonly at: number;
  readonly length: number;
}) {
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + length)}</mark>
      {text.slice(at + length)}
    </>
  );
}

/** Copies the place of a value as a template reads it. */
function CopyPath({ text }: { readonly text: string }) {
  const { t } = useTranslation();
  return (
    <CopyButton value={text} timeout={2_000}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? t('common.copied') : `${t('executions.json.copyPath')}: ${text}`}>
          <ActionIcon onClick={copy} aria-label={t('executions.json.copyPath')} size="sm">
            {copied ? <Check size={14} /> : <Braces size={14} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

/** A path as templates write it, where there is something to write in front of it. */
function templateOf(prefix: string, path: JsonPath): string {
  const parts = path.map(String).join('.');
  if (prefix === '') return parts;
  return `{{${parts === '' ? prefix : `${prefix}.${parts}`}}}`;
}
