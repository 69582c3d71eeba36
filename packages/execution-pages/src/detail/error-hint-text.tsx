import '@millrace/ui/i18n/parts/executions.ts';
import { Skeleton } from '@mantine/core';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { errorHint, type HintFamily, hintFamilyOf, loadHints } from './error-hint.ts';

type Part = (props: { code: string }) => ReactNode;

const partFor = (family: HintFamily): Part =>
  lazyPart(
    async () => {
      await loadHints(family);
      return HintText;
    },
    () => <Skeleton component="span" display="inline-block" w="20em" maw="100%" h="1em" />,
  );
const PARTS: { readonly [Family in HintFamily]: Part } = {
  ai: partFor('ai'),
  data: partFor('data'),
  run: partFor('run'),
  services: partFor('services'),
};

/** Advice for an error code. */
export function ErrorHint({ code }: { code: string }) {
  const Part = PARTS[hintFamilyOf(code)];
  return <Part code={code} />;
}

function HintText({ code }: { code: string }) {
  const { t } = useTranslation();
  return errorHint(code) ?? t('executions.error.own');
}
