import '@millrace/ui/i18n/parts/setting.ts';
import '@millrace/ui/i18n/parts/workplace.ts';
import '@millrace/ui/i18n/parts/versions.ts';
import '@millrace/ui/i18n/parts/conflict.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import { Button, Group, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { useEditorStore } from '@millrace/editor-model/store.ts';
import type { Flow } from '@millrace/engine';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { notifyDone, notifyFailure } from '@millrace/ui/components/notify.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDraftSync, useEditorPage } from '../editor-context.ts';
import { FlowDifferenceView } from '../versions/flow-difference.tsx';
import { type Decisions, findChoices, mergeFlows } from '../versions/merge-flows.ts';
import { ConflictChoices } from './conflict-choices.tsx';
import type { Conflict } from './draft-sync.ts';

/** Resolves conflicting edits: shows both flows and lets the user decide. Nothing is overwritten before that. */
export function ConflictDialog() {
  const conflict = useDraftSync((state) => state.conflict);
  return conflict === null ? null : <Decide key={keyOf(conflict)} conflict={conflict} />;
}

function keyOf(conflict: Conflict): string {
  return conflict.kind === 'version'
    ? `version ${conflict.version.version}`
    : `draft ${conflict.draft?.revision ?? 0}`;
}

const EMPTY: Flow = { nodes: [], edges: [] };

function Decide({ conflict }: { conflict: Conflict }) {
  const { t } = useTranslation();
  const { org, workflow, draftSync } = useEditorPage();
  const store = useEditorStore();
  const baseVersion = useDraftSync((state) => state.baseVersion);
  const [isBusy, setIsBusy] = useState(false);
  const [decisions, setDecisions] = useState<Decisions>({});
  const [mine] = useState(() => store.getState().toFlow());
  const other = useOther(conflict);
  const base = useQuery({
    ...endpointQuery('GET /orgs/:org/workflows/:id/versions/:version', {
      params: { org, id: workflow.id, version: baseVersion },
    }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const began = (base.data?.flow_data as Flow | undefined) ?? EMPTY;
  const choices = useMemo(() => findChoices(began, mine, other.flow), [began, mine, other.flow]);

  const take = (flow: Flow) => {
    // One undo step, in case it was the wrong choice.
    store.getState().replaceFlow(flow);
  };
  const takeTheirs = () => {
    take(other.flow);
    if (conflict.kind === 'version') {
      // The canvas now equals the version; the old draft would hide it on the next visit.
      draftSync.state.setState({ baseVersion: conflict.version.version, conflict: null });
      void draftSync.save();
    } else if (conflict.draft === null) {
      draftSync.adopt({ version: workflow.version });
    } else {
      draftSync.adopt({ version: conflict.draft.base_version, draft: conflict.draft });
    }
  };
  const takeBoth = () => {
    take(mergeFlows(began, mine, other.flow, decisions));
    void draftSync.keepBoth();
  };
  const keepMine = async () => {
    setIsBusy(true);
    try {
      if ((await draftSync.keepMine()) && conflict.kind === 'version') notifyDone(t('workplace.save.done'));
    } catch (error) {
      notifyFailure(error as Error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Modal opened size="90rem" onClose={() => draftSync.postpone()} title={other.title}>
      <Stack gap="sm">
        <Text size="sm">{other.text}</Text>
        <FlowDifferenceView before={other.flow} after={mine} labels={[other.name, t('conflict.mine')]}>
          {base.isPending ? (
            <Skeleton h={120} />
          ) : (
            <Stack gap="sm">
              <Hint>{t('conflict.choose')}</Hint>
              <ConflictChoices
                choices={choices}
                decisions={decisions}
                onDecide={setDecisions}
                author={other.who}
                sides={other.sides}
              />
            </Stack>
          )}
        </FlowDifferenceView>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => draftSync.postpone()}>
            {t('conflict.later')}
          </Button>
          <Button variant="default" onClick={takeTheirs}>
            {other.take}
          </Button>
          <Button variant="default" onClick={() => void keepMine()} loading={isBusy}>
            {conflict.kind === 'version' ? t('conflict.saveMine') : t('conflict.keepMine')}
          </Button>
          <Button onClick={takeBoth} disabled={base.isPending}>
            {t('conflict.takeBoth')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** The other flow and its label. */
function useOther(conflict: Conflict) {
  const { t } = useTranslation();
  const { workflow } = useEditorPage();
  if (conflict.kind === 'version') {
    const { version, author, flow_data: flow } = conflict.version;
    const who = author?.name ?? t('versions.unknown');
    return {
      flow: flow,
      who,
      name: t('versions.version', { version }),
      title: t('conflict.versionTitle'),
      text: t('conflict.versionText', { version, author: who }),
      take: t('conflict.takeVersion'),
      sides: { theirs: t('conflict.theirsShort'), mine: t('conflict.mineShort') },
    };
  }
  const sides = { theirs: t('conflict.thereShort'), mine: t('conflict.hereShort') };
  const title = t('conflict.draftTitle');
  if (conflict.draft === null) {
    const name = t('versions.version', { version: workflow.version });
    return {
      flow: workflow.flow_data,
      who: name,
      name,
      title,
      text: t('conflict.draftGone'),
      take: t('conflict.takeSaved'),
      sides,
    };
  }
  return {
    flow: conflict.draft.flow_data,
    who: t('conflict.elsewhere'),
    name: t('conflict.otherTab'),
    title,
    text: t('conflict.draftText'),
    take: t('conflict.takeDraft'),
    sides,
  };
}
