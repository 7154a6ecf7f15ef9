import type { PackageProblem } from '../../shared/contracts/error-codes.ts';

/** A problem that only a folder can have comes before those of the package it would become. */
export interface FolderProblem extends Omit<PackageProblem, 'code'> {
  readonly code:
    | PackageProblem['code']
    /** A pipe, socket or device. */
    | 'path_special_file'
    | 'path_unreadable'
    /** The name itself is not UTF-8. */
    | 'path_not_utf8';
}
