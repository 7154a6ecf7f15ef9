/** What the stand-in for Fargate's metadata endpoint answers, and no command may ever see. */
export const METADATA_SECRET = 'credentials-of-the-metadata-endpoint';
