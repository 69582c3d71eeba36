import type { ComponentProps } from 'react';

/** A form submitted by script, including by Enter in a field. */
export function Form({
  onSubmit,
  ...form
}: Omit<ComponentProps<'form'>, 'onSubmit'> & { onSubmit: () => void }) {
  return (
    <form
      {...form}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    />
  );
}
