/** The size of a file: `12.4 MB`. Not shared with the page about the system, which would make a further file of the first view. */
export function fileSize(bytes: number, language: string): string {
  const [unit, size] = (
    [
      ['gigabyte', 1e9],
      ['megabyte', 1e6],
      ['kilobyte', 1e3],
    ] as const
  ).find(([, least]) => bytes >= least) ?? ['byte', 1];
  const unitDisplay = size === 1 ? 'long' : 'short';
  const format = new Intl.NumberFormat(language, {
    style: 'unit',
    unit,
    unitDisplay,
    maximumFractionDigits: 1,
  });
  return format.format(bytes / size);
}
