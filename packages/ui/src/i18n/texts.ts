/** The same keys with other texts: what a translation of a part must have, no more and no less. */
export type Texts<Part> = {
  readonly [Key in keyof Part]: Part[Key] extends string ? string : Texts<Part[Key]>;
};
