/** The one stage of the API. Its name is part of the URL, of what callers sign and of the ARNs in their policies. */
export const API_STAGE = 'live';

/** Everything that the API serves, as IAM writes it: the scope and what follows. */
export const SCOPES_PATH = '/v1/scopes/*';
