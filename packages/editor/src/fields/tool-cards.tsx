import '@millrace/ui/i18n/parts/canvas.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import './tool-cards.css';
import { Combobox, Group, Paper, Stack, Text, UnstyledButton } from '@mantine/core';
import { aboutNode } from '@millrace/editor-model/about-node.ts';
import { type FieldShape, type Schema, shapeOf } from '@millrace/editor-model/field-shape.ts';
import { findTypes } from '@millrace/editor-model/find-types.ts';
import { kindClass } from '@millrace/editor-model/node-classes.ts';
import { isJsonObject, type JsonObject, type JsonValue, joinPointer } from '@millrace/engine';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import { ChevronRight, Plus, TriangleAlert, Workflow } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { NodeIcon } from '../canvas/node-icon.tsx';
import type { FieldComponent } from '../form/field-props.ts';
import { useForm } from '../form/form-context.tsx';
import { moveItem } from '../form/move-item.ts';
import { addTool, toolOf } from '../form/tools.ts';
import { GroupFields } from './group-fields.tsx';
import { ItemActions } from './list-input.tsx';
import { PickList } from './pick-list.tsx';

interface ToolCardsProps {
  Field: FieldComponent;
  /** Of one tool: a node or a workflow. */
  item: Schema;
  value: readonly JsonValue[];
  onChange: (value: JsonValue[]) => void;
  pointer: string;
  label: string;
}

/** An agent's tools as cards: what each is called and what it calls; its settings when it is opened. */
export function ToolCards({ Field, item, value, onChange, pointer, label }: ToolCardsProps) {
  const { t } = useTranslation();
  const { isReadOnly, nodeSchemas } = useForm();
  const [open, setOpen] = useState<number | null>(null);
  /** The card to focus once it is drawn; its settings, if it was just added. */
  const [wanted, setWanted] = useState<{ readonly index: number; readonly isNew: boolean } | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (wanted === null) return;
    const card = frame.current?.children[wanted.index];
    const texts = [...(card?.querySelectorAll<HTMLElement>('textarea, .cm-content') ?? [])];
    const target = wanted.isNew ? texts.find(isEmpty) : card?.querySelector('button');
    target?.focus();
  }, [wanted]);
  const change = (
    next: readonly JsonValue[],
    at: { readonly open: number | null; readonly focus: number },
  ) => {
    onChange([...next]);
    setOpen(at.open);
    setWanted({ index: at.focus, isNew: false });
  };
  const move = (from: number, to: number) => {
    if (isReadOnly || to < 0 || to >= value.length) return;
    change(moveItem(value, from, to), { open: open === from ? to : null, focus: to });
  };
  const add = (chosen: string) => {
    onChange([...value, addTool(item, value, chosen, nodeSchemas)]);
    setOpen(value.length);
    setWanted({ index: value.length, isNew: true });
    return false;
  };
  const onItems = (index: number) => (next: JsonValue[]) => {
    // The buttons of a card move or remove that card.
    if (next.length < value.length) return change(next, { open: null, focus: Math.max(0, index - 1) });
    const to = next.indexOf(value[index] as JsonValue);
    change(next, { open: open === index ? to : null, focus: to });
  };
  return (
    <Stack gap="xs">
      <Stack gap={6} ref={frame}>
        {value.map((tool, index) => (
          <ToolCard
            key={index}
            Field={Field}
            item={item}
            tool={isJsonObject(tool) ? tool : {}}
            pointer={joinPointer(pointer, index)}
            isOpen={open === index}
            onToggle={() => setOpen(open === index ? null : index)}
            onMove={(by) => move(index, index + by)}
            onChange={(next) => onChange(value.map((each, at) => (at === index ? next : each)))}
            actions={
              isReadOnly ? null : <ItemActions items={value} index={index} onChange={onItems(index)} />
            }
          />
        ))}
      </Stack>
      {!isReadOnly && (
        <PickList
          text={t('forms.addItem')}
          label={t('forms.addTo', { label })}
          icon={<Plus size={14} aria-hidden />}
          onChoose={add}
        >
          <ToolChoices label={label} />
        </PickList>
      )}
    </Stack>
  );
}

/** Its name is there already. */
function isEmpty(text: HTMLElement): boolean {
  return (text instanceof HTMLTextAreaElement ? text.value : text.textContent) === '';
}

interface CardProps {
  Field: FieldComponent;
  item: Schema;
  tool: JsonObject;
  pointer: string;
  isOpen: boolean;
  onToggle: () => void;
  onMove: (by: number) => void;
  onChange: (tool: JsonObject) => void;
  actions: ReactNode;
}

function ToolCard({ Field, item, tool, pointer, isOpen, onToggle, onMove, onChange, actions }: CardProps) {
  const { t } = useTranslation();
  const { problems, nodeSchemas } = useForm();
  const org = useOrg();
  const { kind, name, description, type, config, workflowId } = toolOf(tool);
  const node = nodeSchemas?.get(type)?.node;
  const workflows = useQuery({
    ...endpointQuery('GET /orgs/:org/workflows', { params: { org }, query: { limit: 200 } }),
    enabled: kind === 'workflow',
  });
  const workflow = workflows.data?.items.find(({ id }) => id === workflowId);
  const calls =
    kind === 'workflow'
      ? (workflow?.name ?? t('forms.otherWorkflow', { id: workflowId }))
      : [node?.title ?? type, aboutNode({ id: '', type, data: { config } }, t)?.brief]
          .filter((part) => part !== undefined && part !== '')
          .join(': ');
  const count = problems.filter((problem) => problem.pointer.startsWith(`${pointer}/`)).length;
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || by === undefined) return;
    event.preventDefault();
    onMove(by);
  };
  const shape = settingsOf(item, kind, node !== undefined);
  return (
    <Paper withBorder className="tool-card">
      <Group gap={4} wrap="nowrap" align="center" pe={6}>
        <UnstyledButton
          className="tool-card-head"
          onClick={onToggle}
          onKeyDown={onKeyDown}
          aria-expanded={isOpen}
          aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
        >
          <span
            className={`flow-node-icon ${kind === 'workflow' ? 'flow-kind-effect' : kindClass(node)}`}
            aria-hidden
          >
            {kind === 'workflow' ? <Workflow size={16} /> : <NodeIcon name={node?.icon} />}
          </span>
          <span className="tool-card-text">
            <Group gap={6} wrap="nowrap">
              <Text span size="sm" fw={600} ff="monospace" truncate>
                {name === '' ? '?' : name}
              </Text>
              {count > 0 && (
                <Text span size="xs" c="var(--flow-problem)" className="tool-card-problems">
                  <TriangleAlert size={12} aria-hidden /> {t('forms.tools.problems', { count })}
                </Text>
              )}
            </Group>
            <Text span size="xs" truncate display="block">
              {calls}
            </Text>
            {!isOpen && description !== '' && (
              <Hint span truncate display="block">
                {description}
              </Hint>
            )}
          </span>
          <ChevronRight size={14} aria-hidden className="tool-card-sign" data-open={isOpen || undefined} />
        </UnstyledButton>
        {actions}
      </Group>
      {isOpen && shape !== null && (
        <div className="tool-card-body">
          <GroupFields Field={Field} shape={shape} value={tool} onChange={onChange} pointer={pointer} />
        </div>
      )}
    </Paper>
  );
}

/** The settings of a tool; what it calls was chosen when it was added, if that is known here. */
function settingsOf(
  item: Schema,
  kind: string,
  isKnown: boolean,
): Extract<FieldShape, { kind: 'group' }> | null {
  const shape = shapeOf(item);
  if (shape.kind !== 'variants') return null;
  const variant = shape.variants.find(({ name }) => name === kind) ?? shape.variants[0];
  const inner = variant === undefined ? null : shapeOf(variant.schema);
  if (inner?.kind !== 'group') return null;
  const main = inner.fields.map(({ name }) => name).filter((name) => name !== 'type' || !isKnown);
  return { ...inner, layout: { main, sections: [] } };
}

/** The nodes and workflows that can be tools. */
function ToolChoices({ label }: { label: string }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { nodeSchemas } = useForm();
  const [search, setSearch] = useState('');
  const { data } = useQuery(
    endpointQuery('GET /orgs/:org/workflows', { params: { org }, query: { limit: 200 } }),
  );
  // Most tools reach something outside.
  const types = [...(nodeSchemas?.values() ?? [])]
    .map(({ node }) => node)
    .toSorted((a, b) => Number(b.kind === 'effect') - Number(a.kind === 'effect'));
  const nodes = findTypes(types, search).flatMap((group) => group.types);
  const wanted = search.trim().toLowerCase();
  const workflows = (data?.items ?? []).filter(({ name }) => name.toLowerCase().includes(wanted));
  return (
    <>
      <Combobox.Search
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        placeholder={t('forms.tools.search')}
        aria-label={t('forms.tools.search')}
      />
      <Combobox.Options mah={280} style={{ overflowY: 'auto' }} aria-label={label}>
        <Combobox.Group label={t('forms.tools.nodes')}>
          {nodes.map((node) => (
            <Combobox.Option key={node.type} value={node.type}>
              <Group gap={8} wrap="nowrap">
                <span className={`flow-node-icon ${kindClass(node)}`} aria-hidden>
                  <NodeIcon name={node.icon} />
                </span>
                {node.title}
              </Group>
            </Combobox.Option>
          ))}
        </Combobox.Group>
        <Combobox.Group label={t('forms.tools.workflows')}>
          {workflows.map(({ id, name }) => (
            <Combobox.Option key={id} value={`${id} ${name}`}>
              <Group gap={8} wrap="nowrap">
                <span className="flow-node-icon flow-kind-effect" aria-hidden>
                  <Workflow size={16} />
                </span>
                {name}
              </Group>
            </Combobox.Option>
          ))}
        </Combobox.Group>
        {nodes.length + workflows.length === 0 && <Combobox.Empty>{t('forms.options.none')}</Combobox.Empty>}
      </Combobox.Options>
    </>
  );
}
