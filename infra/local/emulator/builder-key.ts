/**
 * With what builders sign their calls of an emulator: a key that it does not know, so that it takes its caller for
 * nobody in particular, and functions take them for the one that the settings name.
 */
export const BUILDER_KEY = { id: 'AKIDEMULATORBUILDER0', secret: 'emulator' } as const;

/** As the AWS SDK reads it. */
export const BUILDER_ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: BUILDER_KEY.id,
  AWS_SECRET_ACCESS_KEY: BUILDER_KEY.secret,
} as const;
