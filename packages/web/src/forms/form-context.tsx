import type { Problem } from '@millrace/engine';
import { createContext, useContext } from 'react';
import type { PathHint, Preview } from './template-scope.ts';

/** What the fields of a form share. */
export interface FormContextValue {
  readonly isReadOnly: boolean;
  /** Whether texts may hold templates. */
  readonly takesTemplates: boolean;
  /** What is wrong, with pointers into the form's value. */
  readonly problems: readonly Pick<Problem, 'pointer' | 'message'>[];
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

/** The first mistake at this very place; those further in are told by their own fields. */
export function useProblem(pointer: string): string | null {
  const { problems } = useForm();
  return problems.find((problem) => problem.pointer === pointer)?.message ?? null;
}
