import type { NodeType } from '@millrace/editor-model/editor-state.ts';
import type { Schema } from '@millrace/editor-model/field-shape.ts';
import type { DataSource, PathHint, Preview } from '@millrace/editor-model/known-values.ts';
import type { JsonValue } from '@millrace/engine';
import { type Said, translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { createContext, useContext } from 'react';
import { useTranslation } from 'react-i18next';

/** A problem with a value of the form. */
export type FormProblem = Said & { readonly pointer: string };

/** The context shared by a form's fields. */
export interface FormContextValue {
  readonly isReadOnly: boolean;
  /** Whether what is edited was just added, so that nobody has chosen anything in it. */
  readonly isNew?: boolean;
  /** Whether strings may contain templates. */
  readonly takesTemplates: boolean;
  /** Only values below this pointer may contain templates; absent: all. */
  readonly templatesBelow?: string;
  /** Title and schema, by type, of nodes whose settings can be nested in these. */
  readonly nodeSchemas?: ReadonlyMap<
    string,
    { readonly title: string; readonly schema: Schema; readonly node: NodeType }
  >;
  /** Problems, with pointers into the form's value. */
  readonly problems: readonly FormProblem[];
  /** What templates can read here, with everything in it; absent where a form shows no data. */
  readonly sources?: () => readonly DataSource[];
  /** What is edited, with the values that pointers lead to; absent where no field asks for others. */
  readonly whole?: JsonValue;
  /** Paths that templates can read here. */
  readonly hints: () => readonly PathHint[];
  /** Renders a string's templates; null if it has none. */
  readonly preview: (text: string) => Preview | null;
}

/** A form whose values are what they are, without templates. */
export const PLAIN_FORM: FormContextValue = {
  isReadOnly: false,
  takesTemplates: false,
  problems: [],
  hints: () => [],
  preview: () => null,
};

export const FormContext = createContext(PLAIN_FORM);

export function useForm(): FormContextValue {
  return useContext(FormContext);
}

/** Whether strings at this pointer may contain templates. */
export function useTakesTemplates(pointer: string): boolean {
  const { takesTemplates, templatesBelow = '' } = useForm();
  return takesTemplates && pointer.startsWith(templatesBelow);
}

/** Whether there is a problem at or below one of these pointers. */
export function hasProblemBelow(
  { problems }: Pick<FormContextValue, 'problems'>,
  pointers: readonly string[],
): boolean {
  return problems.some(({ pointer }) =>
    pointers.some((at) => pointer === at || pointer.startsWith(`${at}/`)),
  );
}

/**
 * The first problem at exactly this pointer; nested ones are shown by their own fields.
 * @param isWhole nested values have no fields of their own, so their problems are shown here
 */
export function useProblem(pointer: string, isWhole = false): string | null {
  const { problems } = useForm();
  // Re-render when the language changes.
  useTranslation();
  const found = problems.find(
    (problem) => problem.pointer === pointer || (isWhole && problem.pointer.startsWith(`${pointer}/`)),
  );
  return found === undefined ? null : translateMessage(found);
}
