/** The key that a row names, joined from its table. */
export function presentKeyOf(row: {
  readonly api_key_id: number | null;
  readonly api_key_name: string | null;
  readonly api_key_key_id: string | null;
  readonly api_key_last_four: string | null;
}) {
  const { api_key_id: id, api_key_name: name, api_key_key_id: keyId, api_key_last_four: lastFour } = row;
  return id === null ? null : { id, name: name ?? '', key_id: keyId ?? '', last_four: lastFour ?? '' };
}
