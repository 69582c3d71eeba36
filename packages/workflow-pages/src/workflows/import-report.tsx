import { Alert, Badge, Box, Button, Group, List, Stack, Text } from '@mantine/core';
import { FlowThumbnail } from '@millrace/editor/canvas/flow-thumbnail.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { type Said, translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { CircleCheck, OctagonAlert, TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './import-dialog.module.css';
import type { Checked, CheckedWorkflow } from './import-sources.ts';

const MAX_SHOWN = 6;
const COLOURS = { dropped: 'red', approximated: 'yellow', mapped: 'green' } as const;
const OUTCOMES = ['dropped', 'approximated', 'mapped'] as const;

/** What becomes of the nodes of another product: the worst first, and all of them on request. */
export function ImportReport({ report }: { report: NonNullable<Checked['report']> }) {
  const { t } = useTranslation();
  const [isWhole, setIsWhole] = useState(false);
  const counts = OUTCOMES.map((outcome) => ({
    outcome,
    nodes: report.filter((node) => node.outcome === outcome),
  }));
  const changed = counts.flatMap(({ outcome, nodes }) => (outcome === 'mapped' ? [] : nodes));
  const shown = isWhole ? counts.flatMap(({ nodes }) => nodes) : changed.slice(0, MAX_SHOWN);
  const isCut = shown.length < report.length;
  return (
    <Stack gap={6}>
      <Group gap={6}>
        {counts.map(({ outcome, nodes }) => (
          <Badge key={outcome} color={nodes.length === 0 ? 'gray' : COLOURS[outcome]} variant="light">
            {t(`workflows.importOutcome.${outcome}`, { count: nodes.length })}
          </Badge>
        ))}
      </Group>
      <Hint>{t('workflows.importOutcomeHint')}</Hint>
      {shown.length > 0 && (
        <List size="sm" listStyleType="none" spacing={4} aria-label={t('workflows.importNodes')}>
          {shown.map(({ node, type, outcome, notes }) => (
            <List.Item key={node} className={classes.outcome} data-outcome={outcome}>
              <Text span size="sm" fw={600}>
                {node}
              </Text>{' '}
              <Hint component="span">{type}</Hint>
              <Text size="sm">
                {notes.length === 0
                  ? t('workflows.importMapped')
                  : notes.map((note) => translateMessage(note)).join(' ')}
              </Text>
            </List.Item>
          ))}
        </List>
      )}
      {(isCut || isWhole) && (
        <Button
          variant="subtle"
          size="compact-sm"
          style={{ alignSelf: 'flex-start' }}
          aria-expanded={isWhole}
          onClick={() => setIsWhole(!isWhole)}
        >
          {isWhole ? t('workflows.importLess') : t('workflows.importAll', { count: report.length })}
        </Button>
      )}
    </Stack>
  );
}

/** A preview, with problems that prevent the import or remain to be fixed afterwards. */
export function Preview({ workflow: { body, check } }: { workflow: CheckedWorkflow }) {
  const { t } = useTranslation();
  const { structure_errors: errors, problems } = check;
  if (errors.length > 0) {
    return (
      <Alert color="red" p="xs" icon={<OctagonAlert size={16} />} title={t('workflows.importBroken')}>
        <Found items={errors} />
      </Alert>
    );
  }
  return (
    <>
      <Box h={120} className={classes.picture} aria-hidden>
        <FlowThumbnail flow={body.flow_data} />
      </Box>
      {problems.length === 0 ? (
        <Group gap={6} wrap="nowrap">
          <CircleCheck size={14} aria-hidden />
          <Text size="sm">{t('workflows.importFine')}</Text>
        </Group>
      ) : (
        <Alert
          color="yellow"
          p="xs"
          icon={<TriangleAlert size={16} />}
          title={t('workflows.importUnfinished')}
        >
          <Found items={problems} />
        </Alert>
      )}
    </>
  );
}

function Found({ items }: { items: readonly (Said & { pointer: string; code: string })[] }) {
  const { t } = useTranslation();
  return (
    <List size="sm" listStyleType="none" spacing={2}>
      {items.slice(0, MAX_SHOWN).map((item) => (
        <List.Item key={`${item.pointer} ${item.code} ${item.message}`}>
          {translateMessage(item)}{' '}
          <Text span size="xs" ff="monospace">
            {item.pointer}
          </Text>
        </List.Item>
      ))}
      {items.length > MAX_SHOWN && (
        <List.Item>{t('workflows.importMore', { count: items.length - MAX_SHOWN })}</List.Item>
      )}
    </List>
  );
}

export function FaultAlert({ children }: { children: ReactNode }) {
  return (
    <Alert color="red" p="xs" role="alert" icon={<OctagonAlert size={16} />}>
      <Text size="sm">{children}</Text>
    </Alert>
  );
}
