import { type Said, translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { createContext, useContext } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schema } from './field-shape.ts';
import type { PathHint, Preview } from './template-scope.ts';

/** What is wrong with a value of the form. */
export type FormProblem = Said & { readonly pointer: string };

/** What the fields of a form share. */
export interface FormContextValue {
  readonly isReadOnly: boolean;
  /** Whether texts may hold templates. */
  readonly takesTemplates: boolean;
  /** Only what stands below this pointer may; absent: everything. */
  readonly templatesBelow?: string;
  /** Types of nodes whose settings are part of these: by type, their title and schema. */
  readonly nodeSchemas?: ReadonlyMap<string, { readonly title: string; readonly schema: Schema }>;
  /** What is wrong, with pointers into the form's value. */
  readonly problems: readonly FormProblem[];
  /** What templates can read here. */
  readonly hints: () => readonly PathHint[];
  /** What a text with templates comes to; null when it has none. */
  readonly preview: (text: string) => Preview | null;
}

export const FormContext = createContext<FormContextValue>({
  isReadOnly: false,
  takesTemplates: false,
  problems: [],
  hints: () => [],
  preview: () => null,
});

export function useForm(): FormContextValue {
  return useContext(FormContext);
}

/** Whether the texts at this place may hold templates. */
export function useTakesTemplates(pointer: string): boolean {
  const { takesTemplates, templatesBelow = '' } = useForm();
  return takesTemplates && pointer.startsWith(templatesBelow);
}

/** Whether something is wrong at one of these places or further in. */
export function hasProblemBelow(
  { problems }: Pick<FormContextValue, 'problems'>,
  pointers: readonly string[],
): boolean {
  return problems.some(({ pointer }) =>
    pointers.some((at) => pointer === at || pointer.startsWith(`${at}/`)),
  );
}

/**
 * The first problem at this very place; those further in are shown by their own fields.
 * @param isWhole nothing further in has a field of its own, so problems there are shown here
 */
export function useProblem(pointer: string, isWhole = false): string | null {
  const { problems } = useForm();
  // Drawn again when the language changes.
  useTranslation();
  const found = problems.find(
    (problem) => problem.pointer === pointer || (isWhole && problem.pointer.startsWith(`${pointer}/`)),
  );
  return found === undefined ? null : translateMessage(found);
}
