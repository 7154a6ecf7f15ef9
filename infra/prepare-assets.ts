import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { DeploymentSettings } from '../shared/contracts/deployment-settings.ts';
import { bundleFunctions } from './functions/bundle-functions.ts';
import { stageSandboxImage } from './sandbox-image/stage-image.ts';

export interface PreparedAssets {
  /** Folder of each function's code, by the function's name. */
  readonly bundles: ReadonlyMap<string, string>;
  /** Folder that the image of sandboxes is built in; undefined where the settings name an image. */
  readonly imageContext: string | undefined;
}

export interface PrepareAssetsOptions {
  /** Of the project. */
  readonly root: string;
  /** Folder for all of it. */
  readonly out: string;
  /** Where the functions of the last time are, if they are there. */
  readonly last: string;
  readonly settings: DeploymentSettings;
}

/**
 * All that a deployment uploads.
 * @throws Error when something cannot be compiled, or downloaded the first time.
 */
export async function prepareAssets(options: PrepareAssetsOptions): Promise<PreparedAssets> {
  const { root, out, settings } = options;
  // One after the other: each ends the compiler that they share.
  const imageContext = await stageImage(options);
  const functions = join(out, 'functions');
  startFrom(options.last, functions);
  const bundles = await bundleFunctions({
    root,
    out: functions,
    bindings: settings.bindings,
    profiles: settings.profiles,
    unsafe_caller: settings.emulator !== undefined,
  });
  return { bundles, imageContext };
}

/** What is as it was is not built again. */
function startFrom(last: string, functions: string): void {
  try {
    cpSync(last, functions, { recursive: true });
  } catch {
    // There is none, or another command is about to replace it: what was copied is not taken for a whole build.
  }
}

async function stageImage({ root, out, settings }: PrepareAssetsOptions): Promise<string | undefined> {
  if (settings.sandbox_image !== undefined) return undefined;
  const { sandbox_architecture: architecture } = settings;
  return stageSandboxImage({ root, out: join(out, 'sandbox-image'), architecture });
}
