import { Alert } from '@mantine/core';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import type accountTexts from '@millrace/ui/i18n/en/account.json';
import { CircleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';

type ProblemCode = keyof typeof accountTexts.problem;
type FieldCode = keyof typeof accountTexts.field;

/** Why a form was rejected, translated for common reasons. */
export function FormProblem({ error }: { error: Error | null }) {
  const { t, i18n } = useTranslation();
  // Field errors are shown beside the fields.
  if (error === null || (error instanceof ApiProblem && error.errors.length > 0)) return null;
  const code = error instanceof ApiProblem ? error.code : 'unreachable';
  const isKnown = i18n.exists(`account.problem.${code}`);
  return (
    <Alert color="red" role="alert" icon={<CircleAlert size={16} />} p="xs">
      {isKnown ? t(`account.problem.${code as ProblemCode}`) : error.message}
    </Alert>
  );
}

/** The error of one field of the body; null if none. */
export function useFieldError(error: Error | null): (field: string) => string | null {
  const { t, i18n } = useTranslation();
  return (field) => {
    if (!(error instanceof ApiProblem)) return null;
    const found = error.errors.find(({ pointer }) => pointer === `/${field}`);
    if (found === undefined) return null;
    const isKnown = i18n.exists(`account.field.${found.code}`);
    return isKnown ? t(`account.field.${found.code as FieldCode}`) : found.message;
  };
}
