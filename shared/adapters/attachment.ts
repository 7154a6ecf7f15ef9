/** The Content-Disposition of a download, for any name: `attachment` with the name in UTF-8 (RFC 8187). */
export function attachmentOf(fileName: string): string {
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
