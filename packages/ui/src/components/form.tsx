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
        // React passes it on to the form around a dialog, too, although the page has them apart.
        event.stopPropagation();
        onSubmit();
      }}
    />
  );
}
