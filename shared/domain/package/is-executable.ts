/** No modes travel in a files map: `#!` at the very start is what makes a file executable. */
export function isExecutable(content: Uint8Array): boolean {
  return content[0] === 0x23 && content[1] === 0x21;
}
