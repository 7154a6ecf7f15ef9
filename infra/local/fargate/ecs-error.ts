/** An error in the shape of AWS JSON 1.1: the type's name selects the SDK's error class. */
export type EcsErrorType =
  | 'InvalidParameterException'
  | 'ClientException'
  | 'ConflictException'
  | 'SerializationException'
  | 'UnknownOperationException'
  | 'AccessDeniedException'
  | 'ServerException';

export class EcsError extends Error {
  override readonly name = 'EcsError';
  readonly type: EcsErrorType;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(
    type: EcsErrorType,
    message: string,
    options: ErrorOptions & { fields?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options);
    this.type = type;
    this.fields = options.fields ?? {};
  }

  get status(): number {
    return this.type === 'ServerException' ? 500 : 400;
  }
}
