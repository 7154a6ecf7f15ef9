/** asl-validator ships no types that NodeNext resolution finds. */
declare module 'asl-validator' {
  export default function validate(
    definition: unknown,
    options?: { readonly checkPaths?: boolean; readonly checkArn?: boolean },
  ): { readonly isValid: boolean; readonly errorsText: (separator?: string) => string };
}
