import { Stack, Title } from '@mantine/core';
import type { NodeRunDetail } from '@millrace/admin-api';
import { isJsonObject, type JsonValue, templateStep } from '@millrace/engine';
import { JsonViewer } from '@millrace/ui/components/json-viewer.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { useTranslation } from 'react-i18next';
import classes from '../common/executions.module.css';
import { Files } from '../files/files.tsx';

/** A node's output, what it would have sent in test mode, and its code's log. */
export function NodeOutput({ run, executionId }: { run: NodeRunDetail; executionId: number }) {
  const { t } = useTranslation();
  const { output, node_id: nodeId, log, status } = run;
  const request = dryRequest(output);
  const name = `execution-${executionId}-${nodeId}`;
  return (
    <Stack gap="xs">
      {request !== null && (
        <>
          <Title order={3} size="sm">
            {t('executions.node.dryRun')}
          </Title>
          <Hint>{t('executions.node.dryRunHint')}</Hint>
          <JsonViewer
            value={request}
            label={t('executions.node.dryRun')}
            fileName={`${name}-request.json`}
            maxHeight={260}
          />
        </>
      )}
      <Title order={3} size="sm">
        {t('executions.node.output')}
      </Title>
      {status !== 'success' && Object.keys(output).length === 0 ? (
        <Muted>{t('executions.node.noOutput')}</Muted>
      ) : (
        <JsonViewer
          value={output}
          label={t('executions.node.output')}
          fileName={`${name}.json`}
          pathPrefix={`nodes${templateStep(nodeId)}.output`}
        />
      )}
      <Files value={output} executionId={executionId} />
      {log.length > 0 && (
        <>
          <Title order={3} size="sm">
            {t('executions.node.log')}
          </Title>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
          <ol className={classes.log} style={{ listStyle: 'none', padding: 0 }} tabIndex={0}>
            {log.map(({ level, text }, index) => (
              <li key={index} data-level={level}>
                <span>{level}</span>
                <span>{text}</span>
              </li>
            ))}
          </ol>
        </>
      )}
    </Stack>
  );
}

function dryRequest(output: JsonValue): JsonValue | null {
  return isJsonObject(output) && output.dry_run === true ? (output.request ?? null) : null;
}
