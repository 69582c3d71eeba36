import { Collapse, Group, Text, UnstyledButton } from '@mantine/core';
import { useElementSize, useLocalStorage } from '@mantine/hooks';
import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTree } from './data-tree.tsx';
import { NodeOutput } from './node-output.tsx';

/** Pixels from which two of data, form and output have room side by side, and from which all three have. */
const WIDE = { two: 600, three: 880 } as const;

/** A node's form with the data it can read: beside it in a wide panel, followed by what comes out; above it in a narrow one. */
export function WithData({
  nodeId,
  hasData,
  children,
}: {
  nodeId: string;
  /** False for triggers, which read nothing. */
  hasData: boolean;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const { ref, width } = useElementSize<HTMLDivElement>();
  const [isWanted, setWanted] = useLocalStorage({
    key: 'millrace.editor.data',
    defaultValue: true,
    getInitialValueInEffect: false,
  });
  const isWide = hasData && width >= WIDE.two;
  const hasOutput = width >= (hasData ? WIDE.three : WIDE.two);
  const columns = ['node-columns', isWide && 'has-data', hasOutput && 'has-output'].filter(Boolean);
  // The same elements in all of them, so that a field keeps its focus while the panel is resized.
  return (
    <div ref={ref} className={columns.length > 1 ? columns.join(' ') : undefined}>
      {hasData && (
        <section className="node-data" aria-label={t('forms.data.title')}>
          <UnstyledButton
            py={2}
            mb={2}
            fz="sm"
            aria-expanded={isWanted || isWide}
            disabled={isWide}
            onClick={() => setWanted(!isWanted)}
          >
            <Group gap={4} wrap="nowrap">
              {!isWide && (
                <ChevronRight
                  size={14}
                  aria-hidden
                  style={{ transform: isWanted ? 'rotate(90deg)' : undefined }}
                />
              )}
              <Text span inherit fw={500}>
                {t('forms.data.title')}
              </Text>
            </Group>
          </UnstyledButton>
          <Collapse expanded={isWanted || isWide}>
            <div className="node-data-body">
              <DataTree />
            </div>
          </Collapse>
        </section>
      )}
      <div>{children}</div>
      {hasOutput && (
        <section aria-label={t('forms.output')}>
          <Text size="sm" fw={500} mb={6}>
            {t('forms.output')}
          </Text>
          <NodeOutput nodeId={nodeId} />
        </section>
      )}
    </div>
  );
}
