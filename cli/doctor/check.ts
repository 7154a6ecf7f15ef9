export interface Check {
  readonly what: string;
  /** A note is worth knowing, but stands in the way of nothing. */
  readonly result: 'ok' | 'note' | 'failed';
  readonly found: string;
  readonly fix?: string;
}
