/** Ids and randomness come in as dependencies. */
export interface Ids {
  /** A ULID of 26 characters, ascending within a process. */
  next(): string;
}
